"""The store: every operation of the session layer, as one typed, asynchronous interface."""

from threadline.store.facade.accounts import AccountMethods
from threadline.store.facade.admin import AdminMethods
from threadline.store.facade.approvals import ApprovalMethods
from threadline.store.facade.commands import CommandMethods
from threadline.store.facade.deliveries import DeliveryMethods
from threadline.store.facade.gateways import GatewayMethods
from threadline.store.facade.grants import GrantMethods
from threadline.store.facade.idempotency import IdempotencyMethods
from threadline.store.facade.inbound import InboundMethods
from threadline.store.facade.jobs import JobMethods
from threadline.store.facade.maintenance import MaintenanceMethods
from threadline.store.facade.operator import OperatorMethods
from threadline.store.facade.organization import OrganizationMethods
from threadline.store.facade.people import PeopleMethods
from threadline.store.facade.queries import QueryMethods
from threadline.store.facade.retention import RetentionMethods
from threadline.store.facade.search import SearchMethods
from threadline.store.facade.shares import ShareMethods
from threadline.store.facade.transcripts import TranscriptMethods
from threadline.store.facade.transfer import TransferMethods
from threadline.store.facade.turns import TurnMethods
from threadline.store.facade.usage import UsageMethods


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
    MaintenanceMethods,
    PeopleMethods,
    RetentionMethods,
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


__all__ = ["Store"]
