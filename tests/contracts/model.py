"""A small model of conversations: plain lists and dicts, no database, no threads."""

from dataclasses import dataclass, field

SYSTEM = "…"
"""Stands for the words of a note or marker, which the model does not know."""


@dataclass
class Line:
    """One line of a transcript."""

    role: str
    text: str


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


@dataclass
class ModelSession:
    """A session, as simple as it can be."""

    id: str
    person: str
    lines: list[Line] = field(default_factory=list)
    notes: int = 0
    turns: list[ModelTurn] = field(default_factory=list)
    is_open: bool = True
    is_suspended: bool = False
    interruptions: int = 0
    mode: str = "queue"
    quiet_since: float = 0.0
    deliveries: int = 0

    def held(self) -> ModelTurn | None:
        """Find the turn under way."""
        return next((turn for turn in self.turns if turn.state in {"running", "waiting"}), None)

    def queued(self) -> list[ModelTurn]:
        """List the turns that wait."""
        return [turn for turn in self.turns if turn.state == "queued"]

    def begin(self, turn: ModelTurn) -> None:
        """Put the notes, then the turn's own lines, into the transcript."""
        turn.state, turn.began, turn.attempts = "running", True, turn.attempts + 1
        self.place(turn)

    def place(self, turn: ModelTurn) -> None:
        """Give the lines of a turn their places: notes first."""
        system = [line for line in turn.lines if line.role == "system"]
        others = [line for line in turn.lines if line.role != "system"]
        notes = [Line("system", SYSTEM) for _ in range(self.notes)]
        self.lines += notes + system + others
        self.notes, turn.lines = 0, []

    def keep_partial(self, turn: ModelTurn) -> None:
        """Keep what was streamed, marked, or the mark alone."""
        role = "assistant" if turn.streamed else "system"
        self.lines.append(Line(role, SYSTEM))
        turn.streamed = ""

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
