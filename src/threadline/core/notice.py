"""Notices: the sentences that tell a person, or an agent, what happened to a conversation."""

from collections.abc import Sequence

from threadline.core.message import Marker, MarkerKind, Message, NewMessage, Role, say
from threadline.core.session import Cause

QUOTE_LIMIT = 2_000
SUMMARY_LIMIT = 20_000

_CARRIED = "The last conversation ended with:"
_SUMMED_UP = "What the last conversation was about:"
_EDITED = "An earlier message was edited."
_DELETED = "An earlier message was deleted by its sender."
CARRIED_OVER = (_CARRIED, _SUMMED_UP)
"""How notes begin that quote the conversation before."""
CARRIED_WITHIN = 20
"""The first lines of a session, among which these notes are."""
QUOTING = (_EDITED, _DELETED)
"""How notes begin that quote an earlier message of the same conversation."""

_TO_PERSON = {
    Cause.IDLE: "We had not spoken for a while, so this is a fresh conversation.",
    Cause.DAILY: "A new day has begun, so this is a fresh conversation.",
    Cause.SUSPENDED: "The last conversation was cut off three times, so this is a fresh one.",
}
_TO_AGENT = {
    Cause.IDLE: "The conversation before this one ended after a long silence.",
    Cause.DAILY: "The conversation before this one ended with the day.",
    Cause.SUSPENDED: "The conversation before this one was suspended: it broke off three times.",
}


def tell_person(cause: Cause) -> str | None:
    """Say why a session is new; None where the person knows, because they asked for it."""
    return _TO_PERSON.get(cause)


def tell_agent(cause: Cause) -> NewMessage | None:
    """Say to the agent why its session is new."""
    return say(Role.SYSTEM, _TO_AGENT[cause]) if cause in _TO_AGENT else None


def greet(*, installation: bool) -> NewMessage:
    """Say to the agent that somebody speaks for the first time, so that it can greet."""
    where = "to this installation" if installation else "to you"
    return say(Role.SYSTEM, f"This is the first message that this person ever sent {where}.")


def carry_over(messages: Sequence[Message]) -> NewMessage:
    """Hand the last words of an ended session to the next one, as a quotation."""
    lines = [f"{message.role}: {message.text[:QUOTE_LIMIT]}" for message in messages]
    return say(Role.SYSTEM, f"{_CARRIED}\n" + "\n".join(lines))


def carry_summary(summary: str) -> NewMessage:
    """Hand the summary of an ended session to the next one."""
    return say(Role.SYSTEM, f"{_SUMMED_UP}\n{summary[:SUMMARY_LIMIT]}")


def edited(new: str) -> NewMessage:
    """Say to the agent that an earlier message reads differently now, but not what it said."""
    return say(Role.SYSTEM, f"{_EDITED} It now says: {new[:QUOTE_LIMIT]}")


def deleted() -> NewMessage:
    """Say to the agent that an earlier message was taken back, but not what it said."""
    return say(Role.SYSTEM, f"{_DELETED} You do not see it any more; do not speak of it.")


def cut_off(kept: int) -> NewMessage:
    """Say to the agent that it was interrupted, and what the transcript keeps of its work."""
    done = f"What you had said by then ({kept} characters) stands above." if kept else ""
    text = f"You were cut off while you answered, and are asked again now. {done}".strip()
    return say(Role.SYSTEM, text)


def expired(age: str, *, is_late: bool) -> str:
    """Say why a message was not answered: it arrived late, or waited while nothing ran."""
    how = f"it arrived {age} after it was written" if is_late else f"it waited {age} in an outage"
    return (
        f"This message was not answered: {how}. Use /retry to have it answered, or send it again."
    )


def marker(kind: MarkerKind, why: str) -> NewMessage:
    """Leave a visible trace in the transcript."""
    return NewMessage(role=Role.SYSTEM, parts=(Marker(kind=kind, text=why),))


def stand_in(summary: str) -> NewMessage:
    """Hand the summary of what was compacted to the model, in its place."""
    return say(Role.SYSTEM, f"What was said before this, in short:\n{summary}")
