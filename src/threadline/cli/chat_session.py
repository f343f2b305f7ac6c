"""Chat session: what is typed goes in, and what comes of it is shown."""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Self

from threadline.assembly.export_files import profile_folder
from threadline.cli.chat_view import ChatView, Display
from threadline.cli.command_jobs import MakeRoom, run_command_job
from threadline.cli.store_opener import Opened
from threadline.core.account import TERMINAL_CHAT
from threadline.core.address import Address, Kind, Sender
from threadline.core.approval import Approval, PermissionDuration, read_answer
from threadline.core.command import Call, WhileRunning, parse_command
from threadline.core.delivery import LOCAL
from threadline.core.errors import Conflict, StorageError
from threadline.core.inbound import Inbound
from threadline.core.message import Role
from threadline.core.person import Viewer
from threadline.core.route import route
from threadline.core.session import Cause, SessionId
from threadline.core.session_list import SessionRow
from threadline.core.system_notes import tell_person
from threadline.core.turn import UNFINISHED, TurnId, TurnState
from threadline.database.port import write_keyed
from threadline.gateway.worker import Worker
from threadline.store import queries
from threadline.store.commands import carry_out, describe_session, suggest_command
from threadline.store.commands.context import Errand
from threadline.store.commands.execute import end_errand
from threadline.store.feed import feed_end
from threadline.store.gateways import list_live_gateways
from threadline.store.inbound.deduplication import once
from threadline.store.inbound.receive import receive
from threadline.store.queries import read_turn, session_of
from threadline.store.sessions.bindings import RESETS
from threadline.store.sessions.route_explanation import explain_route
from threadline.store.sessions.session_list import list_own_sessions
from threadline.store.turns import stop_and_wait
from threadline.store.turns.approval_answers import answer_approval
from threadline.store.turns.stop_and_wait import answer, stop_session

TERMINAL = Address(platform=LOCAL, kind=Kind.DM, chat=TERMINAL_CHAT)
OWNER = Sender(id="owner")
"""Whoever sits at this terminal: the installation belongs to them."""


LOOK_FOR_GATEWAY = timedelta(seconds=3)
"""How often it is looked whether the gateway that answers is still there."""
_NOBODY_STARTS = "No gateway serves: its time comes while `threadline serve` runs."
_REMEMBERED = 5
"""Conversations of which the words can be brought back."""


class Conversation:
    """One person at one terminal, and the session that the terminal's route goes on with."""

    def __init__(
        self,
        opened: Opened,
        worker: Worker | None,
        display: Display,
        *,
        profile: str,
        make_room: MakeRoom,
        list_models: Callable[[], Sequence[str]] = tuple,
        agent: str = "echo",
    ) -> None:
        """Sit down at the terminal; without a worker of our own a gateway answers.

        `make_room` does what `/compress` asks for, `list_models` tells what `/model` may choose,
        and `agent` is called so who answers.
        """
        self._store = opened.store
        self._database = opened.database
        self._worker = worker
        self._display = display
        self._make_room = make_room
        self._list_models = list_models
        self._models: Sequence[str] | None = None
        self._profile = profile
        self._output = profile_folder(profile)
        self._route = route(TERMINAL, OWNER, self._store.rules.scopes_for("local"), profile)
        self._told: set[SessionId] = set()
        self._seat = asyncio.Lock()
        """Held by whoever turns the view: a command typed here, or news from elsewhere."""
        self.view = ChatView(
            self._store, worker, display, profile=profile, moved=self._go_along, agent=agent
        )

    async def __aenter__(self) -> Self:
        """Say what goes on here, and begin to follow it."""
        cursor = await self._store.database.read(feed_end)
        await self._take_seat()
        self.view.begin(cursor)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stand up."""
        await self.view.end()

    @property
    def is_busy(self) -> bool:
        """Whether an answer is under way or owed."""
        return bool(self.view.under_way)

    async def hear(self, text: str) -> None:
        """Take in a line: a command, the answer to a question, or something said."""
        call, unknown = parse_command(text.strip()), suggest_command(text.strip())
        if unknown is not None:
            raise unknown
        if call is not None:
            await self._command(text, call)
        elif text.strip() and not await self._answer(text):
            await self._say(text)

    async def rest(self) -> None:
        """Wait until everything that is under way has ended or asks something.

        Where the gateway that answers is gone, it is an error: nobody knows for how long.
        """
        patience = LOOK_FOR_GATEWAY.total_seconds() if self.is_served else None
        while self.view.under_way:
            waiting = {self.view.over, *self.view.under_way.values()}
            done, _ = await asyncio.wait(
                waiting, timeout=patience, return_when=asyncio.FIRST_COMPLETED
            )
            for future in done:
                future.result()
            if not done and self.is_served and not await list_live_gateways(self._store.database):
                raise StorageError("The gateway has stopped", hint="It answers when it is back")

    async def stop(self) -> bool:
        """Stop the turn that is under way, or the last one that waits; False if there is none."""
        if self.view.session_id is None or not self.is_busy:
            return False
        await self._keep_shown()
        if await self._store.database.write(stop_session, self.view.session_id) is not None:
            return True
        return bool(self.view.under_way) and await self._store.database.write(
            stop_and_wait.stop, max(self.view.under_way)
        )

    @property
    def is_served(self) -> bool:
        """Whether a gateway answers, and goes on when this terminal is closed."""
        return self._worker is None

    async def last_words(self) -> list[str]:
        """List what the person said here, oldest first, to be brought back by a key."""
        here = [] if self.view.session_id is None else [self.view.session_id]
        before = [row.session.id for row in await self.own_sessions(_REMEMBERED)]
        words: list[str] = []
        for id in reversed(list(dict.fromkeys(here + before))):
            lines = await self._store.database.read(queries.transcript, id, most=200)
            words += [line.text for line in lines if line.role is Role.USER and line.text]
        return words

    async def own_sessions(self, most: int) -> list[SessionRow]:
        """List the latest conversations that can be resumed here."""
        return await self._store.database.read(
            list_own_sessions, TERMINAL, OWNER, profile=self._profile, most=most
        )

    async def known_models(self) -> Sequence[str]:
        """List the models that can be chosen here; those that are offered come first."""
        if self._models is None:
            self._models = await asyncio.to_thread(self._list_models)
        return self._models

    async def watch_gateway(self) -> None:
        """Say so when nobody is there any more to answer, and when somebody is again."""
        is_served = True
        while True:
            await asyncio.sleep(LOOK_FOR_GATEWAY.total_seconds())
            was_served, is_served = is_served, bool(await list_live_gateways(self._store.database))
            if was_served and not is_served:
                self._display.note("The gateway has stopped. What you say waits until it is back.")
            elif is_served and not was_served:
                self._display.note("The gateway is back.")

    async def _keep_shown(self) -> None:
        """Store what was shown already, so that it is also what is kept."""
        if self._worker is not None:
            await self._worker.beat()

    def _inbound(self, text: str) -> Inbound:
        return Inbound.text(
            text,
            address=TERMINAL,
            sender=OWNER,
            at=self._store.now(),
            message_id=str(uuid.uuid4()),
            profile=self._profile,
        )

    async def _say(self, text: str) -> None:
        inbound = self._inbound(text)
        arrival = await write_keyed(self._store.database, inbound.message_id, receive, inbound)
        if arrival.turn_id is not None:
            self.view.expect(arrival.turn_id, typed=True)
        if arrival.session_id is not None:
            self.view.look_at(arrival.session_id)
            if arrival.cause in RESETS:
                await self._tell_reset(arrival.session_id)

    async def _answer(self, text: str) -> bool:
        """Answer the question that was asked here; False if none waits for an answer."""
        turn_id, self.view.asking = self.view.asking, None
        if turn_id is None:
            return False
        self.view.expect(turn_id, typed=True)
        try:
            await self._decide(turn_id, text)
        except Conflict:  # somebody else answered it, or it was stopped
            self.view.under_way.pop(turn_id, None)
            return False
        return True

    async def _decide(self, turn_id: TurnId, text: str) -> None:
        """Answer a question in words; what asks for tools is a decision, and is audited."""
        turn = await self._store.database.read(read_turn, turn_id)
        if not turn.asks:
            await self._store.database.write(answer, turn_id, text)
            return
        approval, words = read_answer(text)
        owner = Viewer(address=TERMINAL, sender=OWNER, profile=self._profile, sees_all=True)
        await self._store.database.write(
            answer_approval,
            owner,
            turn_id,
            approval or Approval.DENIED,
            asked_at=turn.asked_at,
            extent=PermissionDuration.ONCE,
            words=words,
        )

    async def _command(self, text: str, call: Call) -> None:
        await self._keep_shown()
        if call.command.while_running is WhileRunning.WAIT:
            await self.rest()
        inbound = self._inbound(text)
        async with self._seat:
            reply = await self._store.database.write(once, inbound, carry_out, inbound, call)
            if reply is not None and not reply.is_in_transcript:
                self._display.note(reply.text)
                if not self.is_served and _plans(call):
                    self._display.note(_NOBODY_STARTS)
            if reply is not None and reply.offer:
                self._display.offer(reply.offer)
            if reply is not None and reply.turn_id is not None:
                self._expect(reply.turn_id, call)
            await self._rebind(show=call.command.name == "resume")
        if reply is not None and reply.errand is not None:
            await self._run(reply.errand)

    def _expect(self, turn_id: TurnId, call: Call) -> None:
        """Expect what a command has begun, here or in the background."""
        if call.command.name == "background":
            self.view.beside.expect(turn_id)
        else:
            self.view.expect(turn_id)

    async def _run(self, errand: Errand) -> None:
        """Do what the command left to do, and follow what that changed."""
        asker = Viewer(address=TERMINAL, sender=OWNER, profile=self._profile)
        try:
            told = await run_command_job(
                self._store, errand, folder=self._output, asker=asker, make_room=self._make_room
            )
        finally:
            await end_errand(self._store.database, errand)
        self._display.note(told)
        async with self._seat:
            await self._rebind(show=False)

    async def _take_seat(self) -> None:
        """Find the session that goes on here; say which it is, and show its end."""
        found = await self._store.database.read(
            explain_route, TERMINAL, OWNER, profile=self._profile
        )
        if found.session_id is not None and found.cause is Cause.SUSPENDED:
            await self._show_suspended(found.session_id)
        if found.session_id is None or found.cause is not None:
            self._display.note("A new conversation. Say something.")
            return
        await self._go_on_with(found.session_id)
        await self._expect_unfinished(found.session_id)

    async def _go_on_with(self, id: SessionId) -> None:
        words = await self._database.read(describe_session, id)
        self._display.note(f"Continuing {words}.")
        await self.view.go_on_with(id)

    async def _show_suspended(self, id: SessionId) -> None:
        """Show the end of a session that broke off too often, with what stayed unanswered."""
        await self.view.show_tail(id)
        self._display.note(tell_person(Cause.SUSPENDED) or "")

    async def _expect_unfinished(self, id: SessionId) -> None:
        """Expect what the last run of this program left unanswered."""
        owed = [
            turn
            for turn in await self._store.database.read(queries.turns, id)
            if turn.state in UNFINISHED
        ]
        for turn in reversed(owed):
            self.view.expect(turn.id)
            if turn.state is TurnState.WAITING:
                self.view.ask(turn)
        if left := len(self.view.under_way):
            what = "A message was" if left == 1 else f"{left} messages were"
            when = "It comes now." if left == 1 else "The answers come now."
            self._display.note(f"{what} left without an answer. {when}")

    async def _rebind(self, *, show: bool) -> None:
        """Follow the route to the session that it goes on with now; show its end, or go on."""
        found = await self._store.database.read(
            explain_route, TERMINAL, OWNER, profile=self._profile
        )
        if found.session_id is None or found.cause is not None:
            await self.view.catch_up()
            self.view.look_at(None)
        elif show and found.session_id != self.view.session_id:
            await self.view.go_on_with(found.session_id)
            await self._expect_unfinished(found.session_id)
        elif not show:
            session = await self._store.database.read(queries.read_session, found.session_id)
            self.view.look_at(session.id, shown=session.last_seq)

    async def _go_along(self, id: SessionId) -> None:
        """Go along when the route was moved to another session, here or in another window."""
        async with self._seat:
            here = self.view.session_id
            if here in {None, id} or await self._store.database.read(session_of, self._route) != id:
                return
            await self.view.catch_up()
            if (await self._store.database.read(queries.read_session, id)).parent_id == here:
                self.view.look_at(id)
                await self._tell_reset(id)
            else:
                await self._go_on_with(id)

    async def _tell_reset(self, id: SessionId) -> None:
        """Say why the conversation is a new one, once, if the one before had been any."""
        session = await self._store.database.read(queries.read_session, id)
        policy = self._store.rules.policies.resolve(session.platform, session.kind)
        words = tell_person(session.cause)
        if id in self._told or words is None or not policy.notify or session.parent_id is None:
            return
        self._told.add(id)
        if (await self._store.database.read(queries.read_session, session.parent_id)).last_seq > 0:
            self._display.note(words)


def _plans(call: Call) -> bool:
    """Tell whether a command leaves something to be started later."""
    what = call.argument.partition(" ")[0].lower()
    return call.command.name == "job" and what in {"add", "resume"}
