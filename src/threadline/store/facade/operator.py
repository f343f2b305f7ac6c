"""Operator: words that are said into a given session, and how it looks from afar."""

from threadline.core.access_level import AccessLevel
from threadline.core.account import Account, Actor
from threadline.core.address import Sender
from threadline.core.inbound import Inbound
from threadline.core.message import Message, MessageKey, Part, checked_parts
from threadline.core.minimap import BUCKETS, Bucket
from threadline.core.revision import Seen
from threadline.core.session import BusyMode, Session, SessionId, checked_session_id
from threadline.core.turn import TurnId
from threadline.core.validation import checked_choice, checked_count, checked_id, checked_type
from threadline.database.port import write_keyed
from threadline.store.facade.connection import StoreConnection
from threadline.store.inbound import edits, takeover
from threadline.store.inbound.deduplication import Arrival
from threadline.store.inbound.takeover import answer_into
from threadline.store.inbound.web_message import ask_in
from threadline.store.people.visibility import read_visible
from threadline.store.transcripts.minimap import minimap


class OperatorMethods(StoreConnection):
    """What the owner and members do in a session that they look at."""

    async def ask_in(
        self,
        session_id: SessionId,
        inbound: Inbound,
        *,
        answers: AccessLevel | None = None,
        busy: BusyMode | None = None,
    ) -> Arrival:
        """Say something to the agent in a given session, wherever it is at home.

        The answer is given where the session is at home, as on a platform. One that has ended goes
        on. The same message a second time is answered as the first time. With `answers`, the rank
        of whoever speaks, plain words are given to a turn that waits for them. `busy` says what
        becomes of it while a turn runs, where that is not left to the session.
        """
        checked_type(inbound, "inbound", Inbound)
        return await write_keyed(
            self._db,
            inbound.message_id,
            ask_in,
            checked_session_id(session_id),
            inbound,
            answers=None if answers is None else checked_choice(answers, "rank", AccessLevel),
            busy=None if busy is None else checked_choice(busy, "busy mode", BusyMode),
        )

    async def answer_into(
        self,
        session_id: SessionId,
        sender: Sender,
        parts: tuple[Part, ...],
        message_id: str | None = None,
    ) -> Arrival:
        """Say something to the people of a session in the agent's place; no turn is queued.

        It stands in the transcript under the sender's name, and is delivered where the session is
        at home. The same message id a second time does nothing new.
        """
        return await write_keyed(
            self._db,
            message_id,
            answer_into,
            checked_session_id(session_id),
            checked_type(sender, "sender", Sender),
            checked_parts(parts),
            message_id=None if message_id is None else checked_id(message_id, "message id"),
        )

    async def take_over(
        self, session_id: SessionId, sender: Sender, *, by: Actor | None = None
    ) -> Session:
        """Let a person answer the people of a session on a platform, and the agent be silent.

        What arrives there is kept and starts no turn, until `hand_back` or until the session ends;
        no reset policy ends it. A turn under way is finished, and those that wait are stopped: the
        person answers, by `answer_into`. Twice is as once.
        """
        return await self._db.write(
            takeover.take_over,
            checked_session_id(session_id),
            checked_type(sender, "sender", Sender),
            by=by,
        )

    async def hand_back(self, session_id: SessionId, *, by: Actor | None = None) -> Session:
        """Let the agent answer the next message of a session that somebody has taken over."""
        return await self._db.write(takeover.hand_back, checked_session_id(session_id), by=by)

    async def change_queued(
        self,
        session_id: SessionId,
        key: MessageKey,
        parts: tuple[Part, ...],
        sender: Sender,
        *,
        seen: Seen | None = None,
    ) -> Message:
        """Let a message that waits read differently; whoever asks must have said it, here.

        Once its turn has begun that is a Conflict, and nothing is changed. `seen` are the
        revisions of which it must have one: else it is `Stale`.
        """
        return await self._db.write(
            edits.change_queued,
            checked_session_id(session_id),
            MessageKey(checked_count(key, "message key")),
            checked_parts(parts),
            sender_id=checked_type(sender, "sender", Sender).id or "",
            seen=seen,
        )

    async def take_back(
        self, session_id: SessionId, key: MessageKey, sender: Sender
    ) -> TurnId | None:
        """Let a message that waits never be answered; answers the turn that is stopped by that.

        The words of whoever asks are gone; what others said stays. Once its turn has begun that is
        a Conflict, and nothing is changed.
        """
        return await self._db.write(
            edits.take_back,
            checked_session_id(session_id),
            MessageKey(checked_count(key, "message key")),
            sender_id=checked_type(sender, "sender", Sender).id or "",
        )

    async def minimap(
        self,
        session_id: SessionId,
        buckets: int = BUCKETS,
        *,
        viewer: Account | None = None,
    ) -> list[Bucket]:
        """Show a transcript from afar: in each of so many stretches, how much of what stands.

        To a viewer of a session that this account may not see it is as if it were not there.
        """
        most = min(checked_count(buckets, "number of buckets", 1), BUCKETS)
        return await self._db.read(
            read_visible, viewer, minimap, checked_session_id(session_id), most
        )
