"""The store's ways in: messages, and what people decide about their conversations."""

from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from threadline.core.address import Address, Sender
from threadline.core.inbound import Inbound
from threadline.core.rank import Rank
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import (
    EndReason,
    ModelChoice,
    SessionId,
    TitleSource,
    checked_session_id,
)
from threadline.core.text import checked_choice, checked_type
from threadline.core.turn import BusyMode
from threadline.core.wanted import Wanted
from threadline.sessions import changing, choices, conversations, endings
from threadline.sessions.arrangement import Step
from threadline.sessions.arrivals import outcome
from threadline.sessions.arrivals.arrive import arrive
from threadline.sessions.arrivals.outcome import Arrival
from threadline.sessions.conversations import Change
from threadline.sessions.explain import Explanation, Outlook, explain, read_outlook
from threadline.sessions.store.door import Door
from threadline.storage.database import Transaction, write_keyed

P = ParamSpec("P")
T = TypeVar("T")


class Arriving(Door):
    """What comes in, and which session a conversation goes on with."""

    async def arrive(self, inbound: Inbound, *, answers: Rank | None = None) -> Arrival:
        """Take in a message, an edit or a deletion; it is on disk when this returns.

        The same thing a second time is answered as the first time, and nothing new is done. With
        `answers`, the rank of whoever speaks, plain words are given to a turn that waits for them,
        if they may answer it.
        """
        checked_type(inbound, "inbound", Inbound)
        return await write_keyed(
            self._db,
            inbound.message_id,
            arrive,
            inbound,
            rules=self.rules,
            now=self.now(),
            new_id=self._new_id,
            answers=None if answers is None else checked_choice(answers, "rank", Rank),
        )

    async def begin(self, inbound: Inbound, wanted: Wanted) -> Arrival:
        """Take in the first words of a conversation, with what is wanted of its session."""
        checked_type(inbound, "inbound", Inbound)
        return await write_keyed(
            self._db,
            inbound.message_id,
            changing.begin,
            inbound,
            checked_type(wanted, "wish", Wanted),
            rules=self.rules,
            now=self.now(),
            new_id=self._new_id,
        )

    async def once(
        self,
        inbound: Inbound,
        verb: Callable[Concatenate[Transaction, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T | None:
        """Carry out the verb of a command, unless the same message did so before: then None."""
        return await self._db.write(outcome.once, inbound, verb, *args, **kwargs)

    async def explain(
        self, address: Address, sender: Sender, *, profile: str = MAIN_PROFILE
    ) -> Explanation:
        """Tell where a message would go if it came now, and why."""
        return await self._db.read(
            explain,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
            rules=self.rules,
            now=self.now(),
        )

    async def outlook(self, id: SessionId) -> Outlook:
        """Tell by which rules a session goes on: its policy, its manners when busy, its routes."""
        return await self._db.read(
            read_outlook, checked_session_id(id), rules=self.rules, now=self.now()
        )

    async def reset(
        self,
        address: Address,
        sender: Sender,
        *,
        profile: str = MAIN_PROFILE,
        title: str | None = None,
    ) -> Change:
        """End the session of a conversation, because somebody asked for a new one."""
        return await self._db.write(
            conversations.reset,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
            title=title,
            rules=self.rules,
            now=self.now(),
            new_id=self._new_id,
        )

    async def switch(
        self, address: Address, sender: Sender, to: SessionId, *, profile: str = MAIN_PROFILE
    ) -> Change:
        """Let a conversation go on with another session, if the asker may see that one."""
        return await self._db.write(
            conversations.switch,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
            to=checked_session_id(to),
            rules=self.rules,
            now=self.now(),
        )

    async def end(self, id: SessionId, reason: EndReason = EndReason.CLOSED) -> bool:
        """End a session; what it still had to do is stopped. False if it had ended before."""
        return await self._db.write(
            endings.end,
            checked_session_id(id),
            reason=checked_choice(reason, "reason", EndReason),
            now=self.now(),
        )

    async def set_title(
        self, id: SessionId, title: str, source: TitleSource = TitleSource.PERSON
    ) -> str:
        """Give a session a title; answers the one it has now, as a person's wins for ever."""
        return await self._db.write(
            choices.set_title,
            checked_session_id(id),
            title,
            source=checked_choice(source, "source of the title", TitleSource),
            now=self.now(),
        )

    async def set_summary(self, id: SessionId, summary: str) -> None:
        """Keep what a session was about, so that the one after it can be told."""
        await self._db.write(choices.set_summary, checked_session_id(id), summary, now=self.now())

    async def choose_model(self, id: SessionId, choice: ModelChoice | None) -> None:
        """Choose the model of a session; None leaves it to the configuration again."""
        await self._choose(id, choices.use_model(choice))

    async def set_busy_mode(self, id: SessionId, mode: BusyMode | None) -> None:
        """Choose what becomes of messages that arrive while a turn of this session runs."""
        await self._choose(id, choices.behave(mode))

    async def set_personality(self, id: SessionId, personality: str | None) -> None:
        """Choose who the agent is in a session; None leaves it to the configuration again."""
        await self._choose(id, choices.impersonate(personality))

    async def allow_tools(self, id: SessionId, tools: Sequence[str] | None) -> None:
        """Allow a session these tools and no others; None: those of its platform and profile."""
        await self._choose(id, choices.allow_tools(tools))

    async def set_workspace(self, id: SessionId, workspace: str | None) -> None:
        """Choose the folder in which a session works."""
        await self._choose(id, choices.work_in(workspace))

    async def _choose(self, id: SessionId, step: Step) -> None:
        await self._db.write(choices.choose, checked_session_id(id), step, now=self.now())
