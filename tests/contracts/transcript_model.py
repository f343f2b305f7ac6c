"""A naive model of transcripts: a branch copies everything, and an undo remembers what it took."""

import copy
from dataclasses import dataclass, field


@dataclass(eq=False)
class Spoken:
    """One line."""

    seq: int
    role: str
    text: str
    turn: int | None = None
    is_deleted: bool = False
    about: "Spoken | None" = None
    """The line that a note quotes."""


@dataclass
class Taken:
    """What an undo took: the lines before it, and the compactions that it lifted."""

    shown: list[Spoken]
    lifted: list[tuple[int, int, str]]


@dataclass
class NaiveTranscript:
    """What is shown, and what can be taken back."""

    last_seq: int = 0
    shown: list[Spoken] = field(default_factory=list)
    undone: list[Taken] = field(default_factory=list)
    compactions: list[tuple[int, int, str]] = field(default_factory=list)
    """Last line, order, summary."""
    notes: list[Spoken | None] = field(default_factory=list)
    """What the agent will be told of at its next turn."""
    told: list[Spoken] = field(default_factory=list)
    """The notes that it was given."""

    def add(self, role: str, text: str, turn: int | None = None) -> Spoken:
        """Say something; what was undone cannot come back after that."""
        self.last_seq += 1
        line = Spoken(self.last_seq, role, text, turn)
        self.shown.append(line)
        self.undone.clear()
        return line

    def place_notes(self) -> None:
        """Tell the agent what it has to know."""
        for about in self.notes:
            note = self.add("system", "…")
            note.about = about
            self.told.append(note)
        self.notes = []

    def delete_notes(self, about: Spoken) -> None:
        """Let no note quote a line that is deleted."""
        self.notes = [one for one in self.notes if one is not about]
        for note in self.told:
            note.is_deleted |= note.about is about

    def runs(self) -> list[list[Spoken]]:
        """Gather what people said without an answer in between, oldest first."""
        found: list[list[Spoken]] = []
        is_open = False
        for line in reversed(self.shown):
            if line.role == "user":
                turns = [one.turn for one in found[0] if one.turn is not None] if is_open else []
                if is_open and (line.turn is None or not turns or turns[0] == line.turn):
                    found[0].insert(0, line)
                else:
                    found.insert(0, [line])
                is_open = True
            elif line.role != "system":
                is_open = False
        return found

    def undo(self, turns: int) -> list[str] | None:
        """Take back; answer the words, or None if there is nothing."""
        taken = self.runs()[-turns:]
        if not taken:
            return None
        first = taken[0][0]
        lifted = [one for one in self.compactions if one[0] >= first.seq]
        self.undone.append(Taken(self.shown, lifted))
        self.compactions = [one for one in self.compactions if one not in lifted]
        self.shown = self.shown[: self.shown.index(first)]
        # The agent is not told of edits to what is gone.
        self.notes = [one for one in self.notes if one is None or one.seq < first.seq]
        return [line.text for run in taken for line in run if not line.is_deleted]

    def redo(self) -> bool:
        """Show again; False if there is nothing."""
        if not self.undone:
            return False
        back = self.undone.pop()
        self.shown = back.shown
        self.compactions += back.lifted
        return True

    def retry(self, turn: int | None, text: str) -> None:
        """Answer the last words once more."""
        last = self.runs()[-1]
        self.compactions = [one for one in self.compactions if one[0] < last[0].seq]
        self.shown = self.shown[: self.shown.index(last[-1]) + 1]
        self.undone.clear()
        self.place_notes()
        self.add("assistant", text, turn)

    def can_retry(self) -> bool:
        """Tell whether there are words to be answered once more."""
        runs = self.runs()
        return bool(runs) and not all(line.is_deleted for line in runs[-1])

    def boundary(self, keep: int) -> int | None:
        """Find where a compaction ends; there are no tools here."""
        seen = NaiveTranscript(shown=self.history_lines())
        runs = seen.runs()
        if len(runs) < keep:
            return None
        before = [line for line in seen.shown if line.seq < runs[-keep][0].seq]
        return before[-1].seq if any(line.role != "system" for line in before) else None

    def compact(self, to_seq: int, order: int, summary: str) -> None:
        """Put a summary in the place of what was said first."""
        self.compactions.append((to_seq, order, summary))

    def compaction(self) -> tuple[int, int, str] | None:
        """Answer the compaction in effect."""
        return max(self.compactions, default=None)

    def history_lines(self) -> list[Spoken]:
        """Answer the lines that the model is shown."""
        cut = self.compaction()
        after = 0 if cut is None else cut[0]
        return [line for line in self.shown if line.seq > after and not line.is_deleted]

    def branch(self, at: int | None) -> "NaiveTranscript":
        """Copy everything, up to a line or all of it."""
        child = copy.deepcopy(self)
        child.notes = []
        if at is not None and at != self.last_seq:
            child.last_seq = at
            child.undone.clear()
            child.shown = [line for line in child.shown if line.seq <= at]
            child.compactions = [one for one in child.compactions if one[0] <= at]
        return child
