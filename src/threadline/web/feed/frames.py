"""Frames: how something is written on a stream of server-sent events."""

import json
from collections.abc import Mapping
from enum import StrEnum

import msgspec

from threadline.core.event import Cursor, Event
from threadline.core.session import SessionId
from threadline.core.turn import TurnId

EVENT_STREAM = "text/event-stream"
"""The media type of such a stream."""
RETRY = 2000
"""Milliseconds after which a browser comes back whose stream has ended."""


class FrameKind(StrEnum):
    """What a frame is."""

    HELLO = "hello"
    """The stream goes on from the place that the follower named."""
    SNAPSHOT = "snapshot"
    """The stream begins here: a place, and the sessions that were asked for as they are."""
    EVENT = "event"
    """Something became true."""
    DELTA = "delta"
    """A running turn says something. It is not part of what can be gone on with."""
    RELOAD = "reload"
    """Something is missing: load everything anew. The stream goes on from the place it names."""
    BYE = "bye"
    """The stream ends here."""


class DeltaKind(StrEnum):
    """What a running turn does."""

    TEXT = "text"
    """It says something more; the offset tells how much of this line came before, in characters."""
    THOUGHT = "thought"
    """It thinks; nothing of that is kept."""
    LINE = "line"
    """What it said is a whole line now; what comes next begins at 0 again."""


def write_frame(kind: FrameKind, data: Mapping[str, object], id: Cursor | None = None) -> bytes:
    """Write one frame; whoever comes back names the id of the last one."""
    # Line breaks in a text are escaped by JSON, so everything is one line.
    place = "" if id is None else f"id: {id}\n"
    said = json.dumps(data, separators=(",", ":"))
    return f"event: {kind}\n{place}data: {said}\n\n".encode()


def write_event(event: Event) -> bytes:
    """Write something that became true."""
    told = {
        "kind": event.kind.value,
        "session_id": event.session_id,
        "revision": event.revision,
        "subject": event.subject,
        "at": msgspec.to_builtins(event.at),
    }
    return write_frame(FrameKind.EVENT, told, event.cursor)


def write_delta(
    session_id: SessionId, turn_id: TurnId, kind: DeltaKind, text: str = "", offset: int = 0
) -> bytes:
    """Write what a running turn does."""
    told = {
        "session_id": session_id,
        "turn_id": turn_id,
        "kind": kind.value,
        "offset": offset,
        "text": text,
    }
    return write_frame(FrameKind.DELTA, told)


def write_reload(cursor: Cursor) -> bytes:
    """Write that something is missing, and from where on nothing is."""
    return write_frame(FrameKind.RELOAD, {"cursor": cursor}, cursor)


def write_beat(cursor: Cursor) -> bytes:
    """Write that all is well. No browser shows it, but it remembers how far it has come."""
    return f": all is well\nid: {cursor}\n\n".encode()


def write_retry() -> bytes:
    """Write how soon a browser shall come back."""
    return f"retry: {RETRY}\n\n".encode()
