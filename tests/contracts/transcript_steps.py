"""The part of the machine that shapes transcripts: undo, redo, retry, compaction, branch."""

from copy import deepcopy

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.contracts.conversation_model import ModelSession, ModelTurn, runs_of
from tests.contracts.machine_state import World, people
from threadline.core.errors import Conflict
from threadline.core.session import SessionId
from threadline.core.turn import TurnId

UNFINISHED = {"queued", "running", "waiting", "interrupted"}
MOST_SESSIONS = 8
DEEDS = (
    "undoes",
    "undoes_more",
    "redoes",
    "redoes",
    "retries",
    "is_compacted",
    "is_compacted",
    "is_read_in_full_again",
)


class Shapes(World):
    """What people do to what was said."""

    @rule(
        person=people,
        deeds=st.lists(st.sampled_from(DEEDS), min_size=1, max_size=6),
        at_rest=st.sampled_from([True, True, False]),
    )
    def shapes(self, person: str, deeds: list[str], at_rest: bool) -> None:
        """Somebody does several things in a row to what was said; the feed tells of each."""
        for deed in deeds:
            if at_rest and deed != "is_compacted":
                self.comes_to_rest(person)
            getattr(self, deed)(person)
            self.feed_agrees()
            self.transcripts_agree()

    def comes_to_rest(self, person: str) -> None:
        """Somebody stops everything that is under way or waits."""
        session = self.bound.get(person)
        turns = [] if session is None else session.turns
        for turn in [turn for turn in turns if turn.state in UNFINISHED]:
            assert session is not None
            self.run(self.store.turns.stop(TurnId(turn.id)))
            session.close(turn, "stopped")
            session.interruptions = 0
            session.quiet_since = max(session.quiet_since, self.seconds)

    def undoes(self, person: str, turns: int = 1) -> None:
        """Somebody takes back what was said last."""
        session = self.bound.get(person)
        if session is None:
            return
        taken = runs_of(session.shown())[-turns:]
        if not taken or session.in_the_way():
            with pytest.raises(Conflict):
                self.run(self.store.transcripts.undo(SessionId(session.id), turns))
            return
        undone = self.run(self.store.transcripts.undo(SessionId(session.id), turns))
        assert list(undone.texts) == [line.text for run in taken for _, line in run if line.text]
        first = taken[0][0][0]
        session.hide(first, next(self.numbers), "undone", first)

    def undoes_more(self, person: str) -> None:
        """Somebody takes back several turns."""
        self.undoes(person, 3)

    def redoes(self, person: str) -> None:
        """Somebody wants back what was undone."""
        session = self.bound.get(person)
        if session is None:
            return
        if session.show():
            self.run(self.store.transcripts.redo(SessionId(session.id)))
        else:
            with pytest.raises(Conflict):
                self.run(self.store.transcripts.redo(SessionId(session.id)))

    def retries(self, person: str) -> None:
        """Somebody wants another answer."""
        session = self.bound.get(person)
        if session is None:
            return
        last = next(iter(reversed(runs_of(session.shown()))), None)
        is_busy = any(turn.state in UNFINISHED for turn in session.turns)
        is_shut = not session.is_open or session.is_suspended
        if is_shut or is_busy or last is None or not any(line.text for _, line in last):
            with pytest.raises(Conflict):
                self.run(self.store.transcripts.retry(SessionId(session.id)))
            return
        retried = self.run(self.store.transcripts.retry(SessionId(session.id)))
        session.hide(last[-1][0] + 1, next(self.numbers), "retried", last[0][0])
        session.turns.append(ModelTurn(id=retried.turn_id, queued_at=self.seconds))
        session.quiet_since = max(session.quiet_since, self.seconds)

    def is_compacted(self, person: str, keep: int = 1) -> None:
        """Room is made for the model."""
        session = self.bound.get(person)
        if session is None:
            return
        to_seq = self.boundary(session, keep)
        if to_seq is None:
            with pytest.raises(Conflict):
                self.run(
                    self.store.transcripts.compact(SessionId(session.id), "in short", keep=keep)
                )
            return
        cut = self.run(self.store.transcripts.compact(SessionId(session.id), "in short", keep=keep))
        assert cut.to_seq == to_seq
        session.compactions.append((to_seq, cut.key, "in short"))

    @staticmethod
    def boundary(session: ModelSession, keep: int) -> int | None:
        """Find the line at which a compaction would end; there are no tools here."""
        lines = session.unsummed()
        runs = runs_of(lines)
        if len(runs) < keep:
            return None
        under_way = [
            turn.first for turn in session.turns if turn.state in UNFINISHED and turn.first
        ]
        end = min([runs[-keep][0][0], *under_way])
        before = [(seq, line) for seq, line in lines if seq < end]
        return before[-1][0] if any(line.role != "system" for _, line in before) else None

    def is_read_in_full_again(self, person: str) -> None:
        """A compaction is taken back."""
        session = self.bound.get(person)
        if session is None:
            return
        if not session.compactions:
            with pytest.raises(Conflict):
                self.run(self.store.transcripts.undo_compaction(SessionId(session.id)))
            return
        self.run(self.store.transcripts.undo_compaction(SessionId(session.id)))
        session.compactions.remove(max(session.compactions))

    @precondition(lambda self: len(self.sessions) < MOST_SESSIONS)
    @rule(person=people, data=st.data())
    def goes_another_way(self, person: str, data: st.DataObject) -> None:
        """Somebody branches a conversation; it can be resumed like any other."""
        session = self.bound.get(person)
        if session is None:
            return
        end = len(session.lines)
        at = data.draw(st.sampled_from([end, *(seq for seq, _ in session.shown())]))
        child = self.run(self.store.transcripts.branch(SessionId(session.id), at=at))
        assert child.id not in self.sessions
        self.sessions[child.id] = ModelSession(
            id=child.id,
            person=person,
            lines=deepcopy(session.lines[:at]),
            mode=session.mode,
            quiet_since=self.seconds,
            hidings=deepcopy([hiding for hiding in session.hidings if hiding.end <= at]),
            compactions=[one for one in session.compactions if one[0] <= at],
        )
