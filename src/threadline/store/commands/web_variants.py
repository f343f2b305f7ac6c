"""Commands on a screen that shows one session: new, reset, resume, branch, background, sethome.

A screen shows every conversation in a place of its own. So whoever goes to another one leaves
nothing: only a new one ends the one before, as in a chat.
"""

from msgspec.structs import replace

from threadline.core.access_level import AccessLevel
from threadline.core.delivery import is_carried_out
from threadline.core.errors import Conflict
from threadline.core.platform import Choice
from threadline.core.session import Cause, EndReason, TitleSource
from threadline.store import queries
from threadline.store.branches.branch import branch as fork
from threadline.store.commands.context import CommandContext, CommandReply, describe_session
from threadline.store.commands.navigate import describe_current, find_target
from threadline.store.commands.platforms import make_home
from threadline.store.commands.steer import begin_background
from threadline.store.formatting import name
from threadline.store.session_writer import write_session
from threadline.store.sessions import session_settings
from threadline.store.sessions.bindings import succeed
from threadline.store.sessions.session_end import end_open_session


def new(ask: CommandContext) -> CommandReply:
    """End the conversation and begin a new one: at once if it has a title, else when it is used."""
    title, left = ask.title(), ask.must_be_here()
    with write_session(ask.tx, left) as writer:
        end_open_session(writer, EndReason.NEW)
    back = f"/resume {left} leads back to the last one."
    if title is None:
        return CommandReply(text=f"This is a new conversation. {back}")
    with succeed(writer, Cause.NEW).writer as fresh:
        pass
    session_settings.set_title(ask.tx, fresh.id, title, source=TitleSource.PERSON)
    return CommandReply(
        text=f"This is a new conversation called “{title}”. {back}", session_id=fresh.id
    )


def resume(ask: CommandContext) -> CommandReply:
    """Go to an earlier conversation, or list them to choose from."""
    here = ask.must_be_here()
    id = find_target(ask, ask.asker(sees_all=ask.rank.may(AccessLevel.OWNER)))
    if isinstance(id, CommandReply):
        return replace(id, session_id=here)
    if id == here:
        return CommandReply(text=describe_current(ask, id), session_id=here)
    return CommandReply(text=f"Continuing {describe_session(ask.tx, id)}.", session_id=id)


def branch(ask: CommandContext) -> CommandReply:
    """Go another way from here; this conversation goes on as it is."""
    title, left = ask.title(), ask.must_be_here()
    child = fork(ask.tx, left, title=title)
    called = f" called “{title}”" if title else ""
    text = f"This is a branch{called} now. /resume {left} leads back."
    return CommandReply(text=text, session_id=child.id)


def background(ask: CommandContext) -> CommandReply:
    """Have something done in a session of its own, which the answer stands in."""
    here = ask.must_be_here()
    id, turn_id = begin_background(ask)
    return CommandReply(
        text=f"{name(queries.read_session(ask.tx, id))} is being done beside this conversation.",
        choices=(Choice(label="Go there", says=f"/resume {id}"),),
        turn_id=turn_id,
        session_id=here,
    )


def sethome(ask: CommandContext) -> CommandReply:
    """Make the chat of the conversation the home of its platform."""
    here = ask.must_be_here()
    address = queries.session_address(ask.tx, here)
    if not is_carried_out(address.platform):
        raise Conflict(
            "This conversation is not on a platform", hint="Ask in one that came from it"
        )
    return replace(make_home(ask, address), session_id=here)
