"""Commands: what a line with a slash does in the conversation that a screen shows."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Response
from msgspec import Meta
from msgspec.structs import replace

from threadline.core.access_level import AccessLevel
from threadline.core.account import TokenScope
from threadline.core.command import Call, WhileRunning, parse_command
from threadline.core.command import list_commands as commands_for
from threadline.core.errors import Invalid, NotFound, Refused
from threadline.core.inbound import Inbound
from threadline.core.message import Text
from threadline.core.platform import Choice
from threadline.core.session import Session, SessionId
from threadline.gateway.compaction import NO_SCRIBE
from threadline.store import Store
from threadline.store.commands import CommandReply, suggest_command
from threadline.store.commands.context import Compress, Export, Forget
from threadline.web.authentication import Caller
from threadline.web.bodies import Body, View
from threadline.web.gateway_protocol import GatewayPort, upkeep_of
from threadline.web.resources.auth_deps import Reading, Writing, visible
from threadline.web.resources.deps import GatewayDep, SessionIdPath, StoreDep
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.pagination import Page
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router

LINE_MOST = 10_000


class CommandView(View, frozen=True, kw_only=True):
    """Something that can be asked for with a slash."""

    name: Annotated[str, Meta(examples=["title"])]
    arguments: Annotated[str, Meta(examples=["[title]"])]
    """What may follow it."""
    usage: Annotated[str, Meta(examples=["/title [title]"])]
    """How it is written."""
    help: str
    """What it does, in a sentence."""
    while_running: WhileRunning
    """What it does while a turn runs."""
    who: AccessLevel
    """The least rank that may ask for it."""


class CommandRequest(Body, frozen=True, kw_only=True):
    """A command as somebody wrote it."""

    line: Annotated[
        str, Meta(min_length=1, max_length=LINE_MOST, examples=["/title The lighthouse"])
    ]


class CommandReplyView(View, frozen=True, kw_only=True):
    """What came of a command."""

    text: str
    """The answer; empty where the transcript says it all."""
    choices: Sequence[Choice]
    session_id: str | None
    """Where the screen goes on; null: with a conversation that is begun by its first words."""
    turn_id: int | None
    """The turn that answers, if one does."""
    offer: str | None
    """Words that were taken back, to be said differently."""
    download: (
        Annotated[str, Meta(examples=["/api/exports/sessions/20260131_184500_0a1b2c3d?format=md"])]
        | None
    )
    """Where a file is to be had."""


router = Router(tags=["commands"])

_LINKING = frozenset({"link", "unlink"})
"""These say who somebody is, and so what they see: what a token linked would outlast it."""
_DONE_BEFORE = "This was done before."
_NOT_KEPT = "This was said once, and is not kept."


@router.get("/commands", summary="List commands")
async def list_commands(visitor: Reading) -> Page[CommandView]:
    """List the commands you may use, in the order in which help shows them."""
    known = [one for one in commands_for(_rank(visitor)) if _may_give(visitor, one.name)]
    return Page(items=[CommandView.of(one) for one in known])


@router.post(
    "/sessions/{id}/commands",
    summary="Give a command",
    response_model=CommandReplyView,
    responses=problem_responses(402, 409),
)
async def give_command(
    *,
    visitor: Writing,
    store: StoreDep,
    gateway: GatewayDep,
    id: SessionIdPath,
    wish: CommandRequest,
    once: OnceDep,
) -> Response:
    """Do in a session what the same line does in a chat, and return the reply.

    What has to wait for a turn is done after it. Going elsewhere with `/resume` or `/branch` ends
    nothing, as every conversation has a place of its own here; `/new` ends this one.
    """
    session = await visible(store, visitor, id)
    call = _read(visitor, wish.line)
    is_secret = False

    async def give() -> CommandReplyView:
        nonlocal is_secret
        said = Inbound(
            parts=(Text(text=wish.line.strip()),),
            address=visitor.account.place(),
            sender=visitor.account.sender,
            at=store.now(),
            message_id=once.name,
            profile=session.profile,
            token=visitor.actor.token,
        )
        reply = await store.command_in(session.id, said, call, _rank(visitor))
        if reply is None:
            reply = CommandReply(text=_DONE_BEFORE, session_id=session.id)
        is_secret = reply.is_secret
        return await _finish(store, gateway, session, reply)

    def kept(made: CommandReplyView) -> CommandReplyView:
        return replace(made, text=_NOT_KEPT) if is_secret else made

    return await once.answer_slowly(visitor.account, give, 200, kept=kept)


def _rank(visitor: Caller) -> AccessLevel:
    """Tell what somebody may do with commands; a token that may not administer is a member's."""
    return AccessLevel.OWNER if visitor.may(TokenScope.ADMIN) else AccessLevel.MEMBER


def _may_give(visitor: Caller, name: str) -> bool:
    return visitor.login is not None or name not in _LINKING


def _read(visitor: Caller, line: str) -> Call:
    """Read a line, and refuse what nobody may ask for so."""
    if not visitor.may(TokenScope.READ):
        # An answer tells what stands in conversations.
        raise Refused(f"This also needs the scope {TokenScope.READ}")
    call = parse_command(line.strip())
    if call is None:
        hint = "Give a slash and a name; GET /api/commands lists them"
        raise suggest_command(line.strip()) or Invalid("This is not a command", hint=hint)
    if not _may_give(visitor, call.command.name):
        raise Refused(f"A token may not use /{call.command.name}", hint="Log in with a browser")
    return call


async def _finish(
    store: Store, gateway: GatewayPort, session: Session, reply: CommandReply
) -> CommandReplyView:
    """Do what a command leaves to do, and answer what came of it."""
    text, goes_to, download = reply.text, reply.session_id, None
    if isinstance(reply.errand, Compress):
        text = await _compress(store, gateway, reply.errand)
    elif isinstance(reply.errand, Forget):
        certificate = await store.go_on_forgetting(reply.errand.id)
        text, goes_to = certificate.sentence(), await _what_is_left(store, session)
    elif isinstance(reply.errand, Export):
        errand = reply.errand
        text = "The file is ready."
        download = f"/api/exports/sessions/{errand.session_id}?format={errand.format}"
    return CommandReplyView(
        text=text,
        choices=reply.choices,
        session_id=goes_to,
        turn_id=reply.turn_id,
        offer=reply.offer,
        download=download,
    )


async def _compress(store: Store, gateway: GatewayPort, errand: Compress) -> str:
    upkeep = upkeep_of(gateway)
    try:
        if upkeep is None:
            return NO_SCRIBE
        return await upkeep.compress(errand.session_id, errand.focus, database=store.database)
    finally:
        await store.end_errand(errand)


async def _what_is_left(store: Store, session: Session) -> SessionId | None:
    try:
        return (await store.session(session.id)).id
    except NotFound:
        return None
