"""The ledger: what a child was told is safe, as its parent heard it through the pipe."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class Trouble(StrEnum):
    """How a promise was broken."""

    LOST = "lost"
    DOUBLED = "doubled"
    UNMARKED = "unmarked"
    """Shown again, and nothing says that it may be a repeat."""
    DISORDER = "disordered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One broken promise."""

    trouble: Trouble
    what: str

    def __str__(self) -> str:
        return f"{self.trouble}: {self.what}"


@dataclass(slots=True)
class Ledger:
    """Everything that was acknowledged, by what it was."""

    messages: dict[str, int] = field(default_factory=dict)
    """Message id → the newest version that was acknowledged."""
    deleted: set[str] = field(default_factory=set)
    lines: list[tuple[str, int, str]] = field(default_factory=list)
    """Session, sequence number, text."""
    pieces: dict[int, list[str]] = field(default_factory=dict)
    """Turn → what it streamed."""
    ends: dict[int, str] = field(default_factory=dict)
    """Turn → the state it ended in."""
    sent: set[int] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    saw: tuple[str, int] | None = None
    """The last place in the feed that a follower saw, and how many events it saw up to there."""
    owner: str | None = None
    did: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    @property
    def acknowledged(self) -> int:
        """How many things were acknowledged."""
        return self.did.total() - self.did["ready"] - self.did["saw"]

    def hear(self, lines: Iterable[bytes]) -> None:
        """Write down what came through the pipe."""
        for line in lines:
            if line.endswith(b"\n"):
                self._note(json.loads(line))

    def add(self, other: "Ledger") -> None:
        """Write another ledger behind this one."""
        self.messages |= other.messages
        self.deleted |= other.deleted
        self.lines += other.lines
        for turn, pieces in other.pieces.items():
            self.pieces.setdefault(turn, []).extend(pieces)
        self.ends |= other.ends
        self.sent |= other.sent
        self.left |= other.left
        self.did += other.did

    def _note(self, fact: dict[str, object]) -> None:  # noqa: C901 - one case for each verb
        did = str(fact["did"])
        self.did[did] += 1
        match did:
            case "ready":
                self.owner = str(fact["owner"])
            case "receive" | "edit":
                id = str(fact["id"])
                version = _number(fact["version"])
                self.messages[id] = max(self.messages.get(id, 0), version)
            case "deletion":
                self.deleted.add(str(fact["id"]))
            case "repeat" if not fact["is_repeated"]:
                self.problems.append(Problem(trouble=Trouble.DOUBLED, what=f"arrival {fact}"))
            case "add_messages" | "append":
                line = (str(fact["session"]), _number(fact["seq"]), str(fact["text"]))
                self.lines.append(line)
            case "checkpoint":
                self.pieces.setdefault(_number(fact["turn"]), []).append(str(fact["piece"]))
            case "finish" | "fail":
                self.ends[_number(fact["turn"])] = "done" if did == "finish" else "failed"
            case "record_sent":
                self.sent.add(_number(fact["delivery"]))
            case "reset" if fact["left"] is not None:
                self.left.add(str(fact["left"]))
            case "saw":
                self.saw = (str(fact["cursor"]), _number(fact["count"]))
            case "refused" | "broke":
                self.problems.append(Problem(trouble=Trouble.DISORDER, what=str(fact["why"])))
            case _:
                pass


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
