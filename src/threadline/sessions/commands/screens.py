"""Commands on a screen that shows one session: new, reset, resume, branch, background, sethome.

A screen shows every conversation in a place of its own. So whoever goes to another one leaves
nothing: only a new one ends the one before, as in a chat.
"""

from dataclasses import replace

from threadline.core.delivery import is_carried_out
from threadline.core.errors import Conflict
from threadline.core.platform import Choice
from threadline.core.rank import Rank
from threadline.core.session import Cause, EndReason, TitleSource
from threadline.sessions import choices, views
from threadline.sessions.chronicle import open_chronicle
from threadline.sessions.commands.ask import Ask, Reply, introduce
from threadline.sessions.commands.moving import describe_current, find_target
from threadline.sessions.commands.placing import make_home
from threadline.sessions.commands.speaking import begin_background
from threadline.sessions.conversations import succeed
from threadline.sessions.endings import end_chronicle
from threadline.sessions.phrases import name
from threadline.sessions.records import address_from_row
from threadline.sessions.transcripts.branch import branch as fork
from threadline.storage.database import expect


def new(ask: Ask) -> Reply:
    """End the conversation and begin a new one: at once if it has a title, else when it is used."""
    title, left = ask.title(), ask.must_be_here()
    with open_chronicle(ask.tx, left, ask.now) as chronicle:
        end_chronicle(chronicle, EndReason.NEW)
    back = f"/resume {left} leads back to the last one."
    if title is None:
        return Reply(text=f"This is a new conversation. {back}")
    with succeed(chronicle, Cause.NEW, rules=ask.rules, new_id=ask.new_id).chronicle as fresh:
        pass
    choices.set_title(ask.tx, fresh.id, title, source=TitleSource.PERSON, now=ask.now)
    return Reply(text=f"This is a new conversation called “{title}”. {back}", session_id=fresh.id)


def resume(ask: Ask) -> Reply:
    """Go to an earlier conversation, or list them to choose from."""
    here = ask.must_be_here()
    id = find_target(ask, ask.asker(sees_all=ask.rank.may(Rank.OWNER)))
    if isinstance(id, Reply):
        return replace(id, session_id=here)
    if id == here:
        return Reply(text=describe_current(ask, id), session_id=here)
    return Reply(text=f"Continuing {introduce(ask.tx, id, now=ask.now)}.", session_id=id)


def branch(ask: Ask) -> Reply:
    """Go another way from here; this conversation goes on as it is."""
    title, left = ask.title(), ask.must_be_here()
    child = fork(ask.tx, left, title=title, now=ask.now, new_id=ask.new_id)
    called = f" called “{title}”" if title else ""
    text = f"This is a branch{called} now. /resume {left} leads back."
    return Reply(text=text, session_id=child.id)


def background(ask: Ask) -> Reply:
    """Have something done in a session of its own, which the answer stands in."""
    here = ask.must_be_here()
    id, turn_id = begin_background(ask)
    return Reply(
        text=f"{name(views.read_session(ask.tx, id))} is being done beside this conversation.",
        choices=(Choice(label="Go there", says=f"/resume {id}"),),
        turn_id=turn_id,
        session_id=here,
    )


def sethome(ask: Ask) -> Reply:
    """Make the chat of the conversation the home of its platform."""
    here = ask.must_be_here()
    row = views.session_row(ask.tx, here)
    if not is_carried_out(row.text("platform")):
        raise Conflict(
            "This conversation is not on a platform", hint="Ask in one that came from it"
        )
    seat = expect(ask.tx, "read_seat", key=row.number("key"))
    place = expect(ask.tx, "read_place", key=seat.number("address_key"))
    return replace(make_home(ask, address_from_row(place)), session_id=here)
