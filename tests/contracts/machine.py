"""A machine of random verbs, checked against the model and the feed after every step."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.contracts.conversation_model import Line, ModelSession, ModelTurn
from tests.contracts.machine_state import MINUTE
from tests.contracts.transcript_steps import Shapes
from threadline.core.agent import Question
from threadline.core.errors import Conflict
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Role, Text, say
from threadline.core.session import BusyMode, SessionId
from threadline.core.session_patch import SessionPatch
from threadline.core.turn import TurnId

people = st.sampled_from(["ann", "bob"])
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


class Conversations(Shapes):
    """Everything that can happen between two people and an agent."""

    # Arriving ------------------------------------------------------------------------------

    @rule(person=people, text=words)
    def speaks(self, person: str, text: str) -> None:
        """Somebody writes."""
        session = self.current(person)
        inbound = self.inbound(person, text)
        arrival = self.run(self.store.receive(inbound))
        told: list[Line] = []
        if session is None:
            session, told = self.open(person, arrival)
        else:
            assert arrival.session_id == session.id
        assert arrival.turn_id is not None
        line = Line("user", text)
        held = session.held()
        if session.mode == "interrupt" and held is not None:
            session.close(held, "stopped")
        waiting = session.queued()
        if session.mode == "collect" and waiting:
            turn = waiting[-1]
        else:
            turn = ModelTurn(id=arrival.turn_id, queued_at=self.seconds)
            if session.mode == "steer" and held is not None and held.state == "running":
                turn.steers = held.id
            session.turns.append(turn)
        assert turn.id == arrival.turn_id
        turn.lines += [*told, line]
        session.quiet_since = max(session.quiet_since, self.seconds)
        self.sent.append((inbound, line, session, turn))

    @rule(person=people, text=words)
    def is_overheard(self, person: str, text: str) -> None:
        """Somebody says something that is not meant for the agent."""
        session = self.current(person)
        inbound = self.inbound(person, text, observed=True)
        arrival = self.run(self.store.receive(inbound))
        told: list[Line] = []
        if session is None:
            session, told = self.open(person, arrival)
            session.quiet_since = self.seconds
        line = Line("user", text)
        session.lines += [*session.take_notes(), *told, line]
        self.sent.append((inbound, line, session, None))

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def is_delivered_again(self, data: st.DataObject) -> None:
        """The platform delivers something a second time: nothing happens."""
        inbound, _, _session, _ = data.draw(st.sampled_from(self.sent))
        arrival = self.run(self.store.receive(inbound))
        assert arrival.is_repeated

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), text=words, is_deletion=st.booleans())
    def is_changed(self, data: st.DataObject, text: str, is_deletion: bool) -> None:
        """Somebody edits or deletes what they wrote."""
        index = data.draw(st.integers(0, len(self.sent) - 1))
        inbound, line, session, turn = self.sent[index]
        kind = InboundKind.DELETION if is_deletion else InboundKind.EDIT
        change = Inbound(
            address=inbound.address,
            sender=inbound.sender,
            parts=() if is_deletion else (Text(text=text),),
            at=self.now(),
            message_id=inbound.message_id,
            kind=kind,
            version=next(self.numbers) + 1,
        )
        arrival = self.run(self.store.receive(change))
        if index in self.gone:
            assert arrival.outcome == "ignored"
            return
        if is_deletion:
            self.gone.add(index)
        line.text = "" if is_deletion else text
        is_placed = any(placed is line for placed in session.lines)
        if is_placed:
            if is_deletion:
                session.notes = [one for one in session.notes if one is not line]
                for placed in session.lines:
                    placed.is_gone |= placed.about is line
            if not line.cuts:
                session.notes.append(line)
        elif is_deletion and turn is not None and turn.state == "queued" and not turn.began:
            left = [one for one in turn.lines if one.role == "user" and one.text != ""]
            if not left:
                session.close(turn, "stopped")

    # Running -------------------------------------------------------------------------------

    @rule(person=people)
    def is_claimed(self, person: str) -> None:
        """A worker takes the next turn of a session."""
        session = self.bound.get(person)
        if session is None:
            return
        claim = self.run(self.store.turns.claim(SessionId(session.id)))
        waiting = session.queued()
        if session.held() is not None or not waiting or self.is_held_back(session, waiting[0]):
            assert claim is None
            return
        assert claim is not None
        assert claim.turn.id == waiting[0].id
        session.begin(waiting[0])
        self.leases[claim.turn.id] = claim.lease

    def is_held_back(self, session: ModelSession, turn: ModelTurn) -> bool:
        """Tell whether a turn that may have ended its process waits for another such turn."""
        return session.is_suspect(turn) and any(
            one.state == "running" and other.is_suspect(one)
            for other in self.sessions.values()
            for one in other.turns
        )

    @rule(person=people, text=words)
    def is_answered(self, person: str, text: str) -> None:
        """The agent says a whole message."""
        if found := self.running(person):
            session, turn, lease = found
            self.run(self.store.turns.append(lease, [say(Role.ASSISTANT, text)]))
            session.lines.append(Line("assistant", text))
            turn.streamed, turn.has_news = "", True

    @rule(person=people, text=words)
    def is_streamed_to(self, person: str, text: str) -> None:
        """The agent streams a piece of text."""
        if found := self.running(person):
            _, turn, lease = found
            assert self.run(self.store.turns.checkpoint([(lease, text)])) == frozenset()
            turn.streamed += text
            turn.has_news = True

    @rule(person=people, deliver=st.booleans())
    def is_finished(self, person: str, deliver: bool) -> None:
        """The agent is done."""
        if found := self.running(person):
            session, turn, lease = found
            self.run(self.store.turns.finish(lease, deliver=deliver))
            if turn.streamed:
                session.lines.append(Line("assistant", turn.streamed))
                turn.streamed = ""
            turn.state = "done"
            session.interruptions = 0
            session.quiet_since = max(session.quiet_since, self.seconds)
            session.deliveries += deliver

    @rule(person=people)
    def is_failed(self, person: str) -> None:
        """The agent goes wrong."""
        if found := self.running(person):
            session, turn, lease = found
            self.run(self.store.turns.fail(lease, "it broke", deliver=False))
            session.keep_partial(turn)
            turn.state = "failed"
            session.interruptions = 0
            session.quiet_since = max(session.quiet_since, self.seconds)

    @rule(person=people)
    def is_stopped(self, person: str) -> None:
        """Somebody presses stop."""
        session = self.bound.get(person)
        if session is not None:
            held = session.held()
            stopped = self.run(self.store.stop_session(SessionId(session.id)))
            assert stopped == (None if held is None else held.id)
            if held is not None:
                session.close(held, "stopped")
                session.interruptions = 0
                session.quiet_since = max(session.quiet_since, self.seconds)

    @rule(person=people)
    def is_given_back(self, person: str) -> None:
        """A worker changes its mind."""
        if found := self.running(person):
            _, turn, lease = found
            self.run(self.store.turns.give_back(lease))
            turn.state, turn.attempts = "queued", turn.attempts - 1

    @rule(person=people, text=words)
    def is_asked(self, person: str, text: str) -> None:
        """The agent needs an answer, and somebody gives it twice."""
        if found := self.running(person):
            session, turn, lease = found
            self.run(self.store.turns.wait(lease, Question(text="may I?")))
            assert self.run(self.store.turns.answer(TurnId(turn.id), text)) == "queued"
            try:
                self.run(self.store.turns.answer(TurnId(turn.id), text))
            except Conflict:
                turn.state, turn.queued_at = "queued", self.seconds
                turn.attempts -= 1
                session.quiet_since = max(session.quiet_since, self.seconds)
            else:
                raise AssertionError("a question was answered twice")

    @rule(person=people)
    def is_steered(self, person: str) -> None:
        """The running agent asks what else was said."""
        if found := self.running(person):
            session, turn, lease = found
            before, after = self.run(self.store.turns.take_steering(lease))
            taken = [other for other in session.queued() if other.steers == turn.id]
            assert (after > before) == bool(taken)
            for other in taken:
                session.place(other, turn.id)
                turn.has_news = True
                other.state = "done"

    # People decide -------------------------------------------------------------------------

    @rule(person=people, mode=st.sampled_from(["queue", "collect", "interrupt", "steer"]))
    def chooses_mode(self, person: str, mode: str) -> None:
        """Somebody chooses what happens to messages while the agent is busy."""
        session = self.bound.get(person)
        if session is not None:
            self.run(
                self.store.sessions.update(
                    SessionId(session.id), SessionPatch(busy_mode=BusyMode(mode))
                )
            )
            session.mode = mode

    @rule(person=people)
    def begins_anew(self, person: str) -> None:
        """Somebody asks for a new conversation."""
        session = self.bound.get(person)
        change = self.run(self.store.sessions.reset(*self.place(person)))
        was_open = session is not None and session.is_open
        assert change.left_id == (session.id if session is not None and was_open else None)
        if session is not None:
            session.end()

    @rule(person=people, data=st.data())
    def resumes(self, person: str, data: st.DataObject) -> None:
        """Somebody goes on with an earlier conversation of theirs."""
        own = [session for session in self.sessions.values() if session.person == person]
        if not own:
            return
        target = data.draw(st.sampled_from(own))
        self.run(self.store.sessions.switch(*self.place(person), SessionId(target.id)))
        current = self.bound.get(person)
        if current is target and target.is_open and not target.is_suspended:
            return
        if current is not None and current is not target:
            current.end()
        target.is_open, target.is_suspended, target.interruptions = True, False, 0
        target.quiet_since = max(target.quiet_since, self.seconds)
        self.bound[person] = target

    # Time ----------------------------------------------------------------------------------

    @rule(minutes=st.sampled_from([1, 20, 61]))
    def time_passes(self, minutes: int) -> None:
        """The clock goes on; workers renew their leases meanwhile."""
        self.seconds += minutes * MINUTE
        leases = [
            self.leases[turn.id]
            for session in self.sessions.values()
            for turn in session.turns
            if turn.state == "running"
        ]
        assert self.run(self.store.turns.renew(leases)) == frozenset()

    @rule()
    def worker_vanishes(self) -> None:
        """Nobody renews the leases, and somebody picks up what was cut off."""
        self.seconds += 2 * MINUTE
        self.run(self.store.turns.interrupt_dead())
        for session in list(self.sessions.values()):
            for turn in session.turns:
                if turn.state == "running":
                    if turn.has_news:
                        session.keep_partial(turn)
                    turn.state = "interrupted"
                    session.interruptions += 1
        self.run(self.store.turns.recover())
        for session in list(self.sessions.values()):
            for turn in [one for one in session.turns if one.state == "interrupted"]:
                self.recovers(session, turn)

    @rule()
    def is_swept(self) -> None:
        """The sweep ends what has been silent for too long."""
        swept = set(self.run(self.store.sessions.expire()))
        for session in self.sessions.values():
            if session.is_open and session.id in swept:
                session.end(expired=True)

    @rule(was_seen=st.booleans())
    def is_sent(self, was_seen: bool) -> None:
        """The outbox sends what is owed."""
        for parcel in self.run(self.store.deliveries.lease()):
            if was_seen:
                self.run(self.store.deliveries.record_sent(parcel.delivery, "p1"))
