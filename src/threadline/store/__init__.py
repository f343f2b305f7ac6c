"""The store: every operation of the session layer, as one typed, asynchronous interface."""

from threadline.core.access_level import AccessLevel
from threadline.core.inbound import Inbound
from threadline.core.validation import checked_choice, checked_type
from threadline.database.port import write_keyed
from threadline.store.facade.accounts import AccountMethods
from threadline.store.facade.admin import AdminMethods
from threadline.store.facade.approvals import ApprovalMethods
from threadline.store.facade.commands import CommandMethods
from threadline.store.facade.deletion import DeletionMethods
from threadline.store.facade.deliveries import DeliveryMethods
from threadline.store.facade.gateways import GatewayMethods
from threadline.store.facade.grants import GrantMethods
from threadline.store.facade.idempotency import IdempotencyMethods
from threadline.store.facade.inbound import InboundMethods
from threadline.store.facade.jobs import JobMethods
from threadline.store.facade.operator import OperatorMethods
from threadline.store.facade.organization import OrganizationMethods
from threadline.store.facade.people import PeopleMethods
from threadline.store.facade.queries import QueryMethods
from threadline.store.facade.search import SearchMethods
from threadline.store.facade.shares import ShareMethods
from threadline.store.facade.transcripts import TranscriptMethods
from threadline.store.facade.transfer import TransferMethods
from threadline.store.facade.turns import TurnMethods
from threadline.store.facade.usage import UsageMethods
from threadline.store.inbound.deduplication import Arrival
from threadline.store.inbound.receive import receive
from threadline.store.library.approvals import ApprovalGroup
from threadline.store.library.attachments import AttachmentGroup
from threadline.store.library.deliveries import DeliveryGroup
from threadline.store.library.feed import FeedGroup
from threadline.store.library.jobs import JobGroup
from threadline.store.library.people import PeopleGroup
from threadline.store.library.sessions import SessionGroup
from threadline.store.library.transcripts import TranscriptGroup
from threadline.store.library.transfer import TransferGroup
from threadline.store.library.turns import TurnGroup
from threadline.store.library.usage import UsageGroup


class Store(
    GrantMethods,
    ApprovalMethods,
    OrganizationMethods,
    InboundMethods,
    CommandMethods,
    UsageMethods,
    TurnMethods,
    DeliveryMethods,
    OperatorMethods,
    TransferMethods,
    PeopleMethods,
    DeletionMethods,
    QueryMethods,
    IdempotencyMethods,
    JobMethods,
    TranscriptMethods,
    SearchMethods,
    GatewayMethods,
    ShareMethods,
    AdminMethods,
    AccountMethods,
):
    """All conversations of an installation. Make one with `threadline.open`."""

    async def receive(self, inbound: Inbound, *, answers: AccessLevel | None = None) -> Arrival:
        """Store a message, an edit or a deletion; it is on disk when this returns.

        The same message a second time gets the same return value, and nothing new is done. With
        `answers`, the access level of the sender, a plain text is given to a turn that waits for
        an answer, if the sender may give it.

        >>> arrival = await store.receive(heard("When do we plant?"))
        >>> arrival.outcome.value
        'queued'
        """
        checked_type(inbound, "inbound", Inbound)
        return await write_keyed(
            self.database,
            inbound.message_id,
            receive,
            inbound,
            answers=None if answers is None else checked_choice(answers, "rank", AccessLevel),
        )

    @property
    def turns(self) -> TurnGroup:
        """Turns: what a worker does with the messages that wait, and what it can ask of a turn."""
        return TurnGroup(self.database)

    @property
    def sessions(self) -> SessionGroup:
        """Sessions: find, list and change them."""
        return SessionGroup(self.database)

    @property
    def transcripts(self) -> TranscriptGroup:
        """Transcripts: read them, undo, retry, edit, branch and compact."""
        return TranscriptGroup(self.database)

    @property
    def people(self) -> PeopleGroup:
        """People: which senders are one person, who is let in, and who may see what."""
        return PeopleGroup(self.database)

    @property
    def deliveries(self) -> DeliveryGroup:
        """Deliveries: the replies that are owed to platforms, and what became of them."""
        return DeliveryGroup(self.database)

    @property
    def jobs(self) -> JobGroup:
        """Jobs: prompts on a schedule. Without a viewer they act for the owner."""
        return JobGroup(self.database)

    @property
    def usage(self) -> UsageGroup:
        """Usage: what was spent, and whether more may be spent."""
        return UsageGroup(self.database)

    @property
    def feed(self) -> FeedGroup:
        """Feed: every change of the store, in one order that all processes see alike."""
        return FeedGroup(self.database)

    @property
    def attachments(self) -> AttachmentGroup:
        """Attachments: the files that messages carry."""
        return AttachmentGroup(self.database)

    @property
    def approvals(self) -> ApprovalGroup:
        """Approvals: what agents ask, and the tools that they may use without asking."""
        return ApprovalGroup(self.database)

    @property
    def transfer(self) -> TransferGroup:
        """Transfer: exports and imports, in slices, so that others write in between."""
        return TransferGroup(self.database)


__all__ = ["Store"]
