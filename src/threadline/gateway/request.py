"""The request: what an agent is given for one turn."""

from collections.abc import Sequence
from dataclasses import replace

from threadline.core.agent import Request
from threadline.core.message import Message, Part, Role, Text
from threadline.core.route import is_multi_user
from threadline.core.text import ID_LIMIT, TEXT_LIMIT, clean_title
from threadline.core.turn import Turn
from threadline.gateway.running import RunningTurn
from threadline.sessions.store import Store

_NO_BRACKETS = str.maketrans("[]", "()")


async def make_request(store: Store, turn: Turn, running: RunningTurn) -> Request:
    """Gather the session and its history; where several people speak, each line names its own."""
    history: Sequence[Message] = await store.history(turn.session_id)
    place = await store.address_of(turn.session_id)
    named = is_multi_user(place, store.rules.scopes_for(place.platform))
    if named:
        history = [name_sender(message) for message in history]

    async def steering() -> Sequence[Message]:
        added = await running.take_steering()
        return [name_sender(message) for message in added] if named else added

    return Request(
        session=await store.session(turn.session_id),
        turn=turn,
        history=history,
        steering=steering,
        read_blob=store.read_blob,
    )


def name_sender(message: Message) -> Message:
    """Show who said something: `[sender name] text`, in two parts where one is too short."""
    if message.role is not Role.USER:
        return message
    called = (
        clean_title(name, ID_LIMIT) for name in (message.sender_name, message.sender_id) if name
    )
    name = next(filter(None, called), "somebody").translate(_NO_BRACKETS)
    parts: list[Part] = list(message.parts)
    at = next((n for n, part in enumerate(parts) if isinstance(part, Text)), 0)
    first = parts[at] if parts else None
    named = f"[{name}] {first.text}" if isinstance(first, Text) else ""
    if named and len(named) <= TEXT_LIMIT:
        parts[at] = Text(text=named)
    else:
        parts.insert(at, Text(text=f"[{name}]"))
    return replace(message, parts=tuple(parts))
