"""Inbound: messages, and what people decide about their conversations."""

from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from threadline.core.address import Address, Sender
from threadline.core.inbound import Inbound
from threadline.core.role import AccessLevel
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import (
    BusyMode,
    EndReason,
    ModelChoice,
    SessionId,
    TitleSource,
    checked_session_id,
)
from threadline.core.session_patch import SessionPatch
from threadline.core.validation import checked_choice, checked_type
from threadline.database.port import Transaction, write_keyed
from threadline.store.facade.connection import StoreConnection
from threadline.store.inbound import deduplication, session_update
from threadline.store.inbound.deduplication import Arrival
from threadline.store.inbound.receive import receive
from threadline.store.sessions import bindings, session_end, session_settings
from threadline.store.sessions.bindings import BindingChange
from threadline.store.sessions.pins import Step
from threadline.store.sessions.route_explanation import (
    Explanation,
    ResetOutlook,
    explain_route,
    read_outlook,
)

P = ParamSpec("P")
T = TypeVar("T")


class InboundMethods(StoreConnection):
    """What comes in, and which session a conversation goes on with."""

    async def arrive(self, inbound: Inbound, *, answers: AccessLevel | None = None) -> Arrival:
        """Take in a message, an edit or a deletion; it is on disk when this returns.

        The same thing a second time is answered as the first time, and nothing new is done. With
        `answers`, the rank of whoever speaks, plain words are given to a turn that waits for them,
        if they may answer it.
        """
        checked_type(inbound, "inbound", Inbound)
        return await write_keyed(
            self._db,
            inbound.message_id,
            receive,
            inbound,
            answers=None if answers is None else checked_choice(answers, "rank", AccessLevel),
        )

    async def begin(self, inbound: Inbound, wanted: SessionPatch) -> Arrival:
        """Take in the first words of a conversation, with what is wanted of its session."""
        checked_type(inbound, "inbound", Inbound)
        return await write_keyed(
            self._db,
            inbound.message_id,
            session_update.create_session,
            inbound,
            checked_type(wanted, "wish", SessionPatch),
        )

    async def once(
        self,
        inbound: Inbound,
        verb: Callable[Concatenate[Transaction, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T | None:
        """Carry out the verb of a command, unless the same message did so before: then None."""
        return await self._db.write(deduplication.once, inbound, verb, *args, **kwargs)

    async def explain(
        self, address: Address, sender: Sender, *, profile: str = MAIN_PROFILE
    ) -> Explanation:
        """Tell where a message would go if it came now, and why."""
        return await self._db.read(
            explain_route,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
        )

    async def outlook(self, id: SessionId) -> ResetOutlook:
        """Tell by which rules a session goes on: its policy, its manners when busy, its routes."""
        return await self._db.read(read_outlook, checked_session_id(id))

    async def reset(
        self,
        address: Address,
        sender: Sender,
        *,
        profile: str = MAIN_PROFILE,
        title: str | None = None,
    ) -> BindingChange:
        """End the session of a conversation, because somebody asked for a new one."""
        return await self._db.write(
            bindings.reset,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
            title=title,
        )

    async def switch(
        self, address: Address, sender: Sender, to: SessionId, *, profile: str = MAIN_PROFILE
    ) -> BindingChange:
        """Let a conversation go on with another session, if the asker may see that one."""
        return await self._db.write(
            bindings.switch,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
            to=checked_session_id(to),
        )

    async def end(self, id: SessionId, reason: EndReason = EndReason.CLOSED) -> bool:
        """End a session; what it still had to do is stopped. False if it had ended before."""
        return await self._db.write(
            session_end.end_session,
            checked_session_id(id),
            reason=checked_choice(reason, "reason", EndReason),
        )

    async def set_title(
        self, id: SessionId, title: str, source: TitleSource = TitleSource.PERSON
    ) -> str:
        """Give a session a title; answers the one it has now, as a person's wins for ever."""
        return await self._db.write(
            session_settings.set_title,
            checked_session_id(id),
            title,
            source=checked_choice(source, "source of the title", TitleSource),
        )

    async def set_summary(self, id: SessionId, summary: str) -> None:
        """Keep what a session was about, so that the one after it can be told."""
        await self._db.write(session_settings.set_summary, checked_session_id(id), summary)

    async def choose_model(self, id: SessionId, choice: ModelChoice | None) -> None:
        """Choose the model of a session; None leaves it to the configuration again."""
        await self._choose(id, session_settings.set_model(choice))

    async def set_busy_mode(self, id: SessionId, mode: BusyMode | None) -> None:
        """Choose what becomes of messages that arrive while a turn of this session runs."""
        await self._choose(id, session_settings.set_busy_mode(mode))

    async def set_personality(self, id: SessionId, personality: str | None) -> None:
        """Choose who the agent is in a session; None leaves it to the configuration again."""
        await self._choose(id, session_settings.set_personality(personality))

    async def allow_tools(self, id: SessionId, tools: Sequence[str] | None) -> None:
        """Allow a session these tools and no others; None: those of its platform and profile."""
        await self._choose(id, session_settings.set_tools(tools))

    async def set_workspace(self, id: SessionId, workspace: str | None) -> None:
        """Choose the folder in which a session works."""
        await self._choose(id, session_settings.set_workspace(workspace))

    async def _choose(self, id: SessionId, step: Step) -> None:
        await self._db.write(session_settings.set_choice, checked_session_id(id), step)
