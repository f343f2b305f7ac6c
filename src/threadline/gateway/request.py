"""The request: what an agent is given for one turn."""

from collections.abc import Sequence
from dataclasses import replace

from threadline.core.address import Address
from threadline.core.agent import Request
from threadline.core.message import Message, Part, Role, Text
from threadline.core.route import is_multi_user, parse_route
from threadline.core.session import SessionId
from threadline.core.turn import Turn
from threadline.gateway.running import RunningTurn
from threadline.sessions.store import Store

_NO_BRACKETS = str.maketrans("[]", "()")


async def make_request(store: Store, turn: Turn, running: RunningTurn) -> Request:
    """Gather the session and its history; where several people speak, each line names its own."""
    history: Sequence[Message] = await store.history(turn.session_id)
    named = await _is_multi_user(store, turn.session_id)
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
    """Show who said something: `[sender name] text`."""
    if message.role is not Role.USER:
        return message
    name = (message.sender_name or message.sender_id or "somebody").translate(_NO_BRACKETS)
    parts: list[Part] = list(message.parts)
    for n, part in enumerate(parts):
        if isinstance(part, Text):
            parts[n] = Text(text=f"[{name}] {part.text}")
            break
    else:
        parts.insert(0, Text(text=f"[{name}]"))
    return replace(message, parts=tuple(parts))


async def _is_multi_user(store: Store, id: SessionId) -> bool:
    for where in await store.routes_of(id):
        parts = parse_route(where)
        address = Address(
            platform=parts.platform, kind=parts.kind, chat=parts.chat, thread=parts.thread
        )
        if is_multi_user(address, store.rules.scopes_for(parts.platform)):
            return True
    return False
