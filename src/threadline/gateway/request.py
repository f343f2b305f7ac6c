"""The request: what an agent is given for one turn."""

import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from threadline.core.address import Kind
from threadline.core.agent import Question, Request
from threadline.core.context import Trigger, company_at, make_context, render
from threadline.core.message import Attachment, Message, Note, Part, Role, Text, words
from threadline.core.platform import PlatformDirectory
from threadline.core.pseudonyms import OPEN, Pseudonymizer
from threadline.core.route import is_multi_user
from threadline.core.safe_names import neutralize, one_line
from threadline.core.turn import Turn, TurnId
from threadline.core.validation import ID_LIMIT, TEXT_LIMIT, clean_title
from threadline.database.port import Database
from threadline.store.blobs import stream_blob
from threadline.store.turns.pseudonyms import make_pseudonymizer
from threadline.store.turns.turn_context import TurnContext, read_turn_context

NOTHING_AROUND = PlatformDirectory()
"""What is around a worker that stands alone."""


class SteerableTurn(Protocol):
    """A turn that runs, and to which people may say more meanwhile."""

    async def take_steering(self) -> Sequence[Message]:
        """Take what was said to it since it was last asked."""
        ...

    async def ask(self, question: Question) -> str:
        """Ask a person, and wait for the answer."""
        ...


_NO_BRACKETS = str.maketrans(dict.fromkeys("[［﹇【〔⁅⟦", "(") | dict.fromkeys("]］﹈】〕⁆⟧", ")"))


async def make_request(
    database: Database,
    turn: Turn,
    running: SteerableTurn,
    surroundings: PlatformDirectory = NOTHING_AROUND,
) -> Request:
    """Gather the session, its history and its place; where several speak, each line names its own.

    Where ids are hidden from agents, they are hidden in all of it.
    """
    scene = await database.read(read_turn_context, turn)
    veil = await make_pseudonymizer(database, surroundings.spared) if surroundings.redact else OPEN
    is_shared = is_multi_user(
        scene.opened, database.environment.settings.scopes_for(scene.opened.platform)
    )
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
        read_blob=partial(stream_blob, database),
        context=context,
        instructions=render(context),
        trigger=_trigger(scene.history, turn.id),
        ask=running.ask,
        memory=scene.memory,
        allowed=scene.allowed,
    )


def _shower(
    scene: TurnContext, veil: Pseudonymizer, *, is_shared: bool
) -> Callable[[Message], Message]:
    """Choose how lines are shown: named where several people speak, without ids where those hide.

    In a direct chat the lines of one person may come from several platforms, so that none of their
    ids is shown.
    """
    platform = scene.opened.platform
    # In a group what was said between others is shown with names, too.
    is_named = is_shared or scene.opened.kind is not Kind.DM
    hides = veil.hides(platform) or (veil.seal is not None and scene.opened.kind is Kind.DM)
    hiding = replace(veil, spares=frozenset())
    namesakes: dict[str, set[str | None]] = {}
    for line in scene.history:
        namesakes.setdefault(_name_key(line), set()).add(line.sender_id)

    def show(message: Message) -> Message:
        ids = namesakes.setdefault(_name_key(message), set())
        ids.add(message.sender_id)
        is_ambiguous = len(ids) > 1
        if hides and message.sender_id is not None:
            message = replace(message, sender_id=hiding.user(platform, message.sender_id))
        message = without_forgery(message, is_named=is_named)
        # What was said between others has no row, and is named wherever it is shown.
        if not is_shared and message.key >= 0:
            return message
        return name_sender(message, with_id=is_ambiguous)

    return show


def _name_key(message: Message) -> str:
    """Return what two names have in common that a reader takes for the same."""
    return unicodedata.normalize("NFKC", one_line(message.sender_name or "")).casefold()


def without_forgery(message: Message, *, is_named: bool) -> Message:
    """Return a message as an agent is shown it, whose words and file names forge nothing.

    Notes may quote people, so they are treated as their words are.
    """
    if message.role not in {Role.USER, Role.SYSTEM}:
        return message
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, Text | Note):
            shown = neutralize(part.text, is_named=is_named)
            parts += [part] if shown == part.text else words(shown)
        elif isinstance(part, Attachment) and part.name is not None:
            name = _name(one_line(part.name))
            parts.append(part if name == part.name else replace(part, name=name or None))
        else:
            parts.append(part)
    return message if parts == list(message.parts) else replace(message, parts=tuple(parts))


def _trigger(history: Sequence[Message], turn_id: TurnId) -> Trigger:
    """Find the message that is answered: the turn's last one, or, asked once more, the last."""
    spoken = [line for line in history if line.role is Role.USER]
    own = [line for line in spoken if line.turn_id == turn_id] or spoken
    return Trigger.of(own[-1]) if own else Trigger()


def _name(text: str) -> str:
    """Return a name or an id as it can stand in brackets before a message."""
    return neutralize(clean_title(text, ID_LIMIT), is_named=False).translate(_NO_BRACKETS)


def name_sender(message: Message, *, with_id: bool = False) -> Message:
    """Show who said something: `[sender name] text`, in two parts where one is too short.

    The id is shown, too, where several senders have the same name.
    """
    if message.role is not Role.USER:
        return message
    called, id = (_name(name or "") for name in (message.sender_name, message.sender_id))
    name = called or id or "somebody"
    if with_id and id and called:
        name = f"{name} ({id})"
    parts: list[Part] = list(message.parts)
    at = next((n for n, part in enumerate(parts) if isinstance(part, Text)), 0)
    first = parts[at] if parts else None
    named = f"[{name}] {first.text}" if isinstance(first, Text) else ""
    if named and len(named) <= TEXT_LIMIT:
        parts[at] = Text(text=named)
    else:
        parts.insert(at, Text(text=f"[{name}]"))
    return replace(message, parts=tuple(parts))
