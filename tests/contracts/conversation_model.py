"""A small model of conversations: plain lists and dicts, no database, no threads."""

from dataclasses import dataclass, field

SYSTEM = "…"
"""Stands for the words of a note or marker, which the model does not know."""
LAST_ATTEMPT = 2
"""After so many interruptions a turn is tried once more."""


@dataclass
class Line:
    """One line of a transcript."""

    role: str
    text: str
    turn: int | None = None
    cuts: list[int] = field(default_factory=list)
    """What hides it."""
    about: "Line | None" = None
    """The line that a note quotes."""
    is_gone: bool = False
    """Whether it is a note on a line that was deleted."""


@dataclass
class ModelTurn:
    """A turn, as simple as it can be."""

    id: int
    queued_at: float
    state: str = "queued"
    steers: int | None = None
    lines: list[Line] = field(default_factory=list)
    streamed: str = ""
    attempts: int = 0
    began: bool = False
    has_news: bool = True
    """Whether it said something since its agent was told that it was cut off."""
    first: int | None = None
    """The sequence number at which it began."""


@dataclass
class Hiding:
    """A stretch that was undone or retried, up to what was then the end."""

    number: int
    kind: str
    end: int
    lifted: list[tuple[int, int, str]] = field(default_factory=list)
    """The compactions that it lifted."""


@dataclass
class ModelSession:
    """A session, as simple as it can be."""

    id: str
    person: str
    lines: list[Line] = field(default_factory=list)
    notes: list[Line] = field(default_factory=list)
    """The lines of which the agent will be told that they were changed."""
    turns: list[ModelTurn] = field(default_factory=list)
    is_open: bool = True
    is_suspended: bool = False
    interruptions: int = 0
    mode: str = "queue"
    quiet_since: float = 0.0
    deliveries: int = 0
    hidings: list[Hiding] = field(default_factory=list)
    """Undone and retried stretches in effect, oldest first."""
    compactions: list[tuple[int, int, str]] = field(default_factory=list)
    """Last line, order, summary."""

    def held(self) -> ModelTurn | None:
        """Find the turn under way."""
        return next((turn for turn in self.turns if turn.state in {"running", "waiting"}), None)

    def is_suspect(self, turn: ModelTurn) -> bool:
        """Tell whether a turn was cut off so often that its next attempt is the last one."""
        before = turn.attempts - (turn.state == "running")
        return before >= LAST_ATTEMPT or self.interruptions >= LAST_ATTEMPT

    def queued(self) -> list[ModelTurn]:
        """List the turns that wait."""
        return [turn for turn in self.turns if turn.state == "queued"]

    def begin(self, turn: ModelTurn) -> None:
        """Put the notes, then the turn's own lines, into the transcript."""
        if turn.first is None:
            turn.first = len(self.lines) + 1
        turn.state, turn.began, turn.attempts = "running", True, turn.attempts + 1
        self.place(turn)

    def place(self, turn: ModelTurn, taken_by: int | None = None) -> None:
        """Give the lines of a turn their places: notes first."""
        for line in turn.lines:
            line.turn = taken_by or turn.id
        system = [line for line in turn.lines if line.role == "system"]
        others = [line for line in turn.lines if line.role != "system"]
        self.lines += self.take_notes() + system + others
        turn.lines = []

    def take_notes(self) -> list[Line]:
        """Make the lines of the notes that wait."""
        notes = [Line("system", SYSTEM, about=line) for line in self.notes]
        self.notes = []
        return notes

    def keep_partial(self, turn: ModelTurn) -> None:
        """Keep what was streamed, marked, or the mark alone."""
        role = "assistant" if turn.streamed else "system"
        self.lines.append(Line(role, SYSTEM))
        turn.streamed, turn.has_news = "", True

    def close(self, turn: ModelTurn, state: str) -> None:
        """End a turn from outside."""
        turn.state = state
        self.place(turn)
        self.keep_partial(turn)

    def end(self, *, expired: bool = False) -> None:
        """End the session and what it still had to do."""
        if self.is_open:
            for turn in self.turns:
                if turn.state in {"queued", "running", "waiting", "interrupted"}:
                    self.close(turn, "failed" if expired else "stopped")
            self.is_open = False

    def shown(self) -> list[tuple[int, Line]]:
        """Answer the lines that people see, with their numbers."""
        return [(seq, line) for seq, line in enumerate(self.lines, 1) if not line.cuts]

    def history(self) -> list[tuple[int, tuple[str, str]]]:
        """Answer what the agent is shown: a summary, and the lines after it."""
        cut = max(self.compactions, default=None)
        told = [] if cut is None else [(cut[0], ("system", SYSTEM))]
        return told + [(seq, (line.role, line.text)) for seq, line in self.unsummed()]

    def unsummed(self) -> list[tuple[int, Line]]:
        """Answer the lines that no summary stands for and nobody deleted."""
        after = max(self.compactions, default=(0,))[0]
        return [
            (seq, line)
            for seq, line in self.shown()
            if seq > after and not line.is_gone and not (line.role == "user" and line.text == "")
        ]

    def in_the_way(self) -> bool:
        """Tell whether a turn stands on what is in the transcript."""
        return any(
            turn.state in {"running", "waiting", "interrupted"}
            or (
                turn.state == "queued"
                and (turn.began or not any(line.role == "user" for line in turn.lines))
            )
            for turn in self.turns
        )

    def hide(self, first: int, number: int, kind: str, covers: int) -> None:
        """Hide everything from a line on, and lift the compactions that reach so far."""
        if kind == "undone":
            # The agent is not told of edits to what is gone.
            gone = {id(line) for line in self.lines[first - 1 :]}
            self.notes = [line for line in self.notes if id(line) not in gone]
        lifted = [one for one in self.compactions if one[0] >= covers]
        self.compactions = [one for one in self.compactions if one[0] < covers]
        hidden = self.lines[first - 1 :]
        if any(not line.cuts for line in hidden):
            self.hidings.append(Hiding(number, kind, len(self.lines), lifted))
            for line in hidden:
                line.cuts.append(number)

    def show(self) -> bool:
        """Show what was undone last, if nothing happened since; False otherwise."""
        if not self.hidings or self.in_the_way():
            return False
        last = self.hidings[-1]
        if last.kind != "undone" or last.end != len(self.lines):
            return False
        self.hidings.pop()
        self.compactions += last.lifted
        for line in self.lines:
            if last.number in line.cuts:
                line.cuts.remove(last.number)
        return True


def runs_of(lines: list[tuple[int, Line]]) -> list[list[tuple[int, Line]]]:
    """Gather what people said without an answer in between, oldest first."""
    found: list[list[tuple[int, Line]]] = []
    is_open = False
    for seq, line in reversed(lines):
        if line.role == "user":
            turns = [one.turn for _, one in found[0] if one.turn] if is_open else []
            if is_open and (line.turn is None or not turns or turns[0] == line.turn):
                found[0].insert(0, (seq, line))
            else:
                found.insert(0, [(seq, line)])
            is_open = True
        elif line.role != "system":
            is_open = False
    return found
