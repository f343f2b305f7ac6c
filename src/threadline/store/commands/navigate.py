"""Commands that lead to another conversation: new, reset, resume, sessions."""

import re
from collections.abc import Sequence

from threadline.core.errors import Invalid, NotFound
from threadline.core.person import Viewer
from threadline.core.platform import Choice
from threadline.core.session import Cause, Session, SessionId
from threadline.core.session_list import SessionRow
from threadline.core.validation import clean_title
from threadline.store.branches.lineage import list_later_links
from threadline.store.commands.context import CommandContext, CommandReply, describe_session
from threadline.store.deliveries.buttons import LABEL_LIMIT, MOST_CHOICES
from threadline.store.formatting import ago, name
from threadline.store.people.visibility import asker_keys, find_owned
from threadline.store.sessions import bindings

LISTED = 20
"""Conversations that a list in a chat shows."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_ID = re.compile(r"[0-9]{8}_[0-9]{6}_[0-9a-f]{8}")


def new(ask: CommandContext) -> CommandReply:
    """Begin a new conversation, with a title or without."""
    inbound, title = ask.inbound, ask.title()
    change = bindings.reset(
        ask.tx, inbound.address, inbound.sender, profile=inbound.profile, title=title
    )
    called = f" called “{title}”" if title else ""
    back = " /resume leads back to the last one." if change.left_id is not None else ""
    return CommandReply(text=f"This is a new conversation{called}.{back}")


def reset(ask: CommandContext) -> CommandReply:
    """Begin a new conversation."""
    return new(ask)


def resume(ask: CommandContext) -> CommandReply:
    """Switch to an earlier conversation, or list them to choose from."""
    id = find_target(ask, ask.asker())
    if isinstance(id, CommandReply):
        return id
    if id == ask.here():
        return CommandReply(text=describe_current(ask, id))
    words = describe_session(ask.tx, id)
    inbound = ask.inbound
    bindings.switch(ask.tx, inbound.address, inbound.sender, profile=inbound.profile, to=id)
    return CommandReply(text=f"Continuing {words}.")


def describe_current(ask: CommandContext, id: SessionId) -> str:
    """Return the reply to a request for the conversation that is already current."""
    return f"You are there already: {describe_session(ask.tx, id)}."


def find_target(ask: CommandContext, asker: Viewer) -> SessionId | CommandReply:
    """Return the conversation that the argument names, or a list if it names none or several."""
    if _ID.fullmatch(ask.argument):
        return _find_latest_link(ask, asker, SessionId(ask.argument))
    own = ask.own()
    if not ask.argument:
        return _listing(ask, own, own, "Your conversations:")
    found = _find(own, ask.argument)
    if len(found) > 1:
        return _listing(ask, own, found, f"Several match “{clean_title(ask.argument)}”:")
    return found[0].session.id


def _find_latest_link(ask: CommandContext, asker: Viewer, id: SessionId) -> SessionId:
    """Return the latest continuation of a session that the asker may resume here.

    Archived sessions and runs of jobs are not listed, but can be resumed by their id.
    """
    keys = asker_keys(ask.tx, asker)

    def may_resume(id: SessionId) -> bool:
        session = find_owned(ask.tx, id)
        if session is None or not keys.admits(session):
            return False
        return not ask.is_overheard or keys.is_in_chat(session)

    if may_resume(id):
        return next(link for link in reversed(list_later_links(ask.tx, id)) if may_resume(link))
    if ask.is_overheard:
        hint = "All of yours can be resumed in a private chat"
        raise NotFound("No conversation in this chat has this id", hint=hint)
    raise NotFound("There is no such session", id=id)


def _find(own: Sequence[SessionRow], wanted: str) -> Sequence[SessionRow]:
    """Return the sessions that a number of the list or words of a title name."""
    if _NUMBER.fullmatch(wanted):
        number = int(wanted)
        if number < 1:
            raise Invalid(f"There is no conversation number {number}", hint="Numbers begin at 1")
        if number <= len(own):
            return [own[number - 1]]
    found = _titled(own, wanted)
    if not found:
        raise NotFound(f"You have no conversation “{clean_title(wanted)}”", hint=_known(own))
    return found


def _known(own: Sequence[SessionRow]) -> str:
    return f"You have {len(own):,}; /resume lists them" if own else "You have none yet"


def _titled(own: Sequence[SessionRow], wanted: str) -> list[SessionRow]:
    """Find by title: the whole of it if that can be, else a part of it."""
    words = clean_title(wanted).casefold()
    titles = [(row, clean_title(row.session.title or "").casefold()) for row in own]
    whole = [row for row, title in titles if title == words]
    return whole or [row for row, title in titles if words and words in title]


def sessions(ask: CommandContext) -> CommandReply:
    """List the sender's conversations."""
    own = ask.own()
    if not ask.argument:
        return _listing(ask, own, own, "Your conversations:")
    found = _titled(own, ask.argument)
    return _listing(ask, own, found, f"Conversations with “{clean_title(ask.argument)}”:")


def _listing(
    ask: CommandContext, own: Sequence[SessionRow], found: Sequence[SessionRow], heading: str
) -> CommandReply:
    """List conversations under the numbers by which they can be resumed."""
    if not found:
        return CommandReply(
            text="There are no such conversations." if own else "There are none yet."
        )
    here = ask.here()
    numbers = {row.session.id: number for number, row in enumerate(own, start=1)}
    shown = found[:LISTED]
    width = len(str(max(numbers[row.session.id] for row in shown)))
    lines = [
        f"{numbers[row.session.id]:>{width}}. {name(row.session)}"
        f" · {ago(row.session.last_activity_at, ask.tx.now)}"
        f"{' · branch' if row.session.cause is Cause.BRANCH else ''}"
        f"{' · answering now' if row.held is not None else ''}"
        f"{' · you are here' if row.session.id == here else ''}"
        for row in shown
    ]
    if len(found) > len(shown):
        lines.append(f"… and {len(found) - len(shown):,} more: /sessions and a word of the title")
    lines.append("/resume and a number goes on with one of them.")
    others = [row.session for row in shown if row.session.id != here]
    return CommandReply(
        text="\n".join([heading, *lines]),
        choices=tuple(_button(session) for session in others[:MOST_CHOICES]),
    )


def _button(session: Session) -> Choice:
    label = clean_title(session.title or "", LABEL_LIMIT) or "Untitled"
    return Choice(label=label, says=f"/resume {session.id}")
