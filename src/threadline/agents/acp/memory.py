"""What is remembered of a conversation that an agent remembers by itself.

The agent's program keeps its own history. We keep by which name, and up to which line it is the
same as ours: whatever was undone, branched or compacted since shows in the digest of those lines.
"""

import hashlib
import json
from collections.abc import Sequence

from msgspec import Struct, to_builtins

from threadline.core.agent import Memory, Request
from threadline.core.message import Message, Role

_ITS_OWN = frozenset({Role.ASSISTANT, Role.TOOL})


class ConversationMemory(Struct, frozen=True, kw_only=True):
    """How far an agent knows a conversation."""

    name: str
    """How the agent calls its own session."""
    seen: int
    """The lines of ours that it was shown."""
    digest: str
    """What these lines were."""
    turn: int
    """The turn in which it was shown the last of them, and what it said then it knows, too."""
    said: int
    """The lines that it said in that turn."""
    instructions: str
    """What it was told of the place, as a digest."""

    def write(self) -> Memory:
        """Write it down."""
        return Memory(text=json.dumps(to_builtins(self), separators=(",", ":")))

    def new_lines(self, request: Request) -> list[Message] | None:
        """Answer what the agent has not heard yet; None: what it knows is not so any more."""
        history = request.history
        if len(history) < self.seen or digest_of(history[: self.seen]) != self.digest:
            return None
        rest = history[self.seen :]
        its_own = [line for line in rest if line.turn_id == self.turn and line.role in _ITS_OWN]
        if self.said and not its_own:
            return None  # What it said then was taken back.
        return [line for line in rest if line not in its_own]


def note_heard_lines(
    name: str, request: Request, lines: Sequence[Message], said: int = 0
) -> ConversationMemory:
    """Remember which lines of a request the agent has heard for certain, and how much it said."""
    return ConversationMemory(
        name=name,
        seen=len(lines),
        digest=digest_of(lines),
        turn=request.turn.id,
        said=said,
        instructions=text_digest(request.instructions),
    )


def recall(text: str | None) -> ConversationMemory | None:
    """Read what was written down; what cannot be read was never known."""
    if text is None:
        return None
    try:
        found = ConversationMemory(**json.loads(text))
    except (ValueError, TypeError):
        return None
    are_numbers = all(isinstance(one, int) for one in (found.seen, found.turn, found.said))
    are_texts = all(isinstance(one, str) for one in (found.name, found.digest, found.instructions))
    return found if are_numbers and are_texts and found.seen >= 0 else None


def digest_of(lines: Sequence[Message]) -> str:
    """Tell lines from others: by which they are, and how they read now."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line.key} {line.seq} {line.changed_at} {line.deleted_at}\n".encode())
        if line.seq is None or line.role is Role.SYSTEM:
            digest.update(line.text.encode("utf-8", "replace"))  # A summary has no key of its own.
    return digest.hexdigest()


def text_digest(text: str) -> str:
    """Tell a text from others."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
