"""Commands: what a line with a slash does in the conversation that a screen shows."""

from fastapi import APIRouter, Response

from threadline.core.account import TokenScope
from threadline.core.command import Call, parse_command
from threadline.core.command import list_commands as commands_for
from threadline.core.errors import Invalid, NotFound, Refused
from threadline.core.inbound import Inbound
from threadline.core.rank import Rank
from threadline.core.session import Session, SessionId
from threadline.gateway.upkeep import NO_SCRIBE
from threadline.sessions.commands import Reply, find_unknown
from threadline.sessions.commands.ask import Compress, Export, Forget
from threadline.sessions.store import Store
from threadline.web.api.asking import Reading, Writing, visible
from threadline.web.api.deps import GatewayDep, SessionIdPath, StoreDep
from threadline.web.api.idempotency import OnceDep
from threadline.web.api.paging import Page
from threadline.web.api.problems import told
from threadline.web.api.shapes.commands import (
    ChoiceShape,
    CommandAnswer,
    CommandShape,
    CommandWish,
)
from threadline.web.served import Served, upkeep_of
from threadline.web.visiting import Visitor

router = APIRouter(tags=["commands"])

_LINKING = frozenset({"link", "unlink"})
"""These say who somebody is, and so what they see: no token with less than all may do that."""
_DONE_BEFORE = "This was done before."
_NOT_KEPT = "This was said once, and is not kept."


@router.get("/commands", summary="List commands")
async def list_commands(visitor: Reading) -> Page[CommandShape]:
    """List the commands you may use, in the order in which help shows them."""
    known = [one for one in commands_for(_rank(visitor)) if _may_give(visitor, one.name)]
    return Page(items=[CommandShape.from_command(one) for one in known])


@router.post(
    "/sessions/{id}/commands",
    summary="Give a command",
    response_model=CommandAnswer,
    responses=told(402, 409),
)
async def give_command(
    *,
    visitor: Writing,
    store: StoreDep,
    gateway: GatewayDep,
    id: SessionIdPath,
    wish: CommandWish,
    once: OnceDep,
) -> Response:
    """Do in a session what the same line does in a chat, and return the reply.

    What has to wait for a turn is done after it. Going elsewhere with `/resume` or `/branch` ends
    nothing, as every conversation has a place of its own here; `/new` ends this one.
    """
    session = await visible(store, visitor, id)
    call = _read(visitor, wish.line)
    is_secret = False

    async def give() -> CommandAnswer:
        nonlocal is_secret
        said = Inbound.text(
            wish.line.strip(),
            address=visitor.account.place(),
            sender=visitor.account.sender,
            at=store.now(),
            message_id=once.name,
            profile=session.profile,
        )
        reply = await store.command_in(session.id, said, call, _rank(visitor))
        if reply is None:
            reply = Reply(text=_DONE_BEFORE, session_id=session.id)
        is_secret = reply.is_secret
        return await _finish(store, gateway, session, reply)

    def kept(made: CommandAnswer) -> CommandAnswer:
        return made.model_copy(update={"text": _NOT_KEPT}) if is_secret else made

    return await once.answer_slowly(visitor.account, give, 200, kept=kept)


def _rank(visitor: Visitor) -> Rank:
    """Tell what somebody may do with commands; a token that may not administer is a member's."""
    return Rank.OWNER if visitor.may(TokenScope.ADMIN) else Rank.MEMBER


def _may_give(visitor: Visitor, name: str) -> bool:
    is_free = visitor.login is not None or visitor.may(TokenScope.ADMIN)
    return is_free or name not in _LINKING


def _read(visitor: Visitor, line: str) -> Call:
    """Read a line, and refuse what nobody may ask for so."""
    if not visitor.may(TokenScope.READ):
        # An answer tells what stands in conversations.
        raise Refused(f"This also needs the scope {TokenScope.READ}")
    call = parse_command(line.strip())
    if call is None:
        hint = "Give a slash and a name; GET /api/commands lists them"
        raise find_unknown(line.strip()) or Invalid("This is not a command", hint=hint)
    if not _may_give(visitor, call.command.name):
        raise Refused(f"A token may not use /{call.command.name}", hint="Log in with a browser")
    return call


async def _finish(store: Store, gateway: Served, session: Session, reply: Reply) -> CommandAnswer:
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
    return CommandAnswer(
        text=text,
        choices=[ChoiceShape.from_choice(one) for one in reply.choices],
        session_id=goes_to,
        turn_id=reply.turn_id,
        offer=reply.offer,
        download=download,
    )


async def _compress(store: Store, gateway: Served, errand: Compress) -> str:
    upkeep = upkeep_of(gateway)
    try:
        if upkeep is None:
            return NO_SCRIBE
        return await upkeep.compress(errand.session_id, errand.focus)
    finally:
        await store.end_errand(errand)


async def _what_is_left(store: Store, session: Session) -> SessionId | None:
    try:
        return (await store.session(session.id)).id
    except NotFound:
        return None
