"""The request: what an agent is given for one turn."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from threadline.core.address import Kind
from threadline.core.agent import Question, Request
from threadline.core.context import Trigger, company_at, make_context, render
from threadline.core.message import Message, Part, Role, Text
from threadline.core.platform import Surroundings
from threadline.core.route import is_multi_user
from threadline.core.text import ID_LIMIT, TEXT_LIMIT, clean_title
from threadline.core.turn import Turn, TurnId
from threadline.core.veil import OPEN, Veil
from threadline.sessions.scenes import Scene
from threadline.sessions.store import Store

NOTHING_AROUND = Surroundings()
"""What is around a worker that stands alone."""


class Steered(Protocol):
    """A turn that runs, and to which people may say more meanwhile."""

    async def take_steering(self) -> Sequence[Message]:
        """Take what was said to it since it was last asked."""
        ...

    async def ask(self, question: Question) -> str:
        """Ask a person, and wait for the answer."""
        ...


_NO_BRACKETS = str.maketrans("[]", "()")


async def make_request(
    store: Store, turn: Turn, running: Steered, surroundings: Surroundings = NOTHING_AROUND
) -> Request:
    """Gather the session, its history and its place; where several speak, each line names its own.

    Where ids are hidden from agents, they are hidden in all of it.
    """
    scene = await store.scene(turn)
    veil = await store.veil(surroundings.spared) if surroundings.redact else OPEN
    is_shared = is_multi_user(scene.opened, store.rules.scopes_for(scene.opened.platform))
    show = _shower(scene, veil, is_shared=is_shared)
    context = make_context(
        scene.here,
        opened=scene.opened,
        owner=scene.owner,
        company=company_at(scene.opened, is_shared=is_shared),
        origin=scene.session.origin,
        homes=scene.homes,
        surroundings=surroundings,
        veil=veil,
    )

    async def steering() -> Sequence[Message]:
        return [show(message) for message in await running.take_steering()]

    return Request(
        session=scene.session,
        turn=turn,
        history=[show(message) for message in scene.history],
        steering=steering,
        read_blob=store.read_blob,
        context=context,
        instructions=render(context),
        trigger=_trigger(scene.history, turn.id),
        ask=running.ask,
        memory=scene.memory,
        allowed=scene.allowed,
    )


def _shower(scene: Scene, veil: Veil, *, is_shared: bool) -> Callable[[Message], Message]:
    """Choose how lines are shown: named where several people speak, without ids where those hide.

    In a direct chat the lines of one person may come from several platforms, so that none of their
    ids is shown.
    """
    platform = scene.opened.platform
    hides = veil.hides(platform) or (veil.seal is not None and scene.opened.kind is Kind.DM)
    hiding = replace(veil, spares=frozenset())

    def show(message: Message) -> Message:
        if hides and message.sender_id is not None:
            message = replace(message, sender_id=hiding.user(platform, message.sender_id))
        # What was said between others has no row, and is named wherever it is shown.
        return name_sender(message) if is_shared or message.key < 0 else message

    return show


def _trigger(history: Sequence[Message], turn_id: TurnId) -> Trigger:
    """Find the message that is answered: the turn's last one, or, asked once more, the last."""
    spoken = [line for line in history if line.role is Role.USER]
    own = [line for line in spoken if line.turn_id == turn_id] or spoken
    return Trigger.of(own[-1]) if own else Trigger()


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
