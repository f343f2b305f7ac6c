"""System notes: the sentences that tell a person, or an agent, what happened to a conversation."""

from collections.abc import Sequence

from threadline.core.message import (
    Marker,
    MarkerKind,
    Message,
    NewMessage,
    Note,
    NoteKind,
    Quote,
    Role,
    say,
)
from threadline.core.safe_names import neutralize_speakers
from threadline.core.session import Cause, SessionId

QUOTE_LIMIT = 2_000
SUMMARY_LIMIT = 20_000

NOTES = {
    NoteKind.CARRIED_OVER: "The last conversation ended with:\n",
    NoteKind.SUMMARY: "What the last conversation was about:\n",
    NoteKind.EDITED: "An earlier message was edited. It now says: ",
    NoteKind.DELETED: "An earlier message was deleted by its sender. You do not see it any more; "
    "do not speak of it.",
}
"""What a note of each kind says to the agent, before what it quotes."""

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


def quote_last_messages(messages: Sequence[Message]) -> NewMessage:
    """Hand the last words of an ended session to the next one, as a quotation."""
    lines = [
        f"{message.role}: {neutralize_speakers(message.text[:QUOTE_LIMIT])}" for message in messages
    ]
    quotes = (
        Quote(session_id=message.session_id, seq=message.seq)
        for message in messages
        if message.seq is not None
    )
    return _note(NoteKind.CARRIED_OVER, "\n".join(lines), *quotes)


def carry_summary(summary: str, session_id: SessionId) -> NewMessage:
    """Hand the summary of an ended session to the next one."""
    return _note(NoteKind.SUMMARY, summary[:SUMMARY_LIMIT], Quote(session_id=session_id))


def edited(new: str, message: Quote) -> NewMessage:
    """Say to the agent that an earlier message reads differently now, but not what it said."""
    return _note(NoteKind.EDITED, new[:QUOTE_LIMIT], message)


def deleted(message: Quote) -> NewMessage:
    """Say to the agent that an earlier message was taken back, but not what it said."""
    return _note(NoteKind.DELETED, "", message)


def _note(kind: NoteKind, words: str, *quotes: Quote) -> NewMessage:
    note = Note(kind=kind, text=f"{NOTES[kind]}{words}", quotes=quotes)
    return NewMessage(role=Role.SYSTEM, parts=(note,))


def note_interruption(kept: int) -> NewMessage:
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
