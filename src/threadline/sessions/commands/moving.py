"""Commands that lead to another conversation: new, reset, resume, sessions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from threadline.core.errors import Invalid, NotFound
from threadline.core.listing import SessionRow
from threadline.core.platform import Choice
from threadline.core.session import Cause, Session, SessionId, checked_session_id
from threadline.core.text import clean_title
from threadline.sessions import conversations
from threadline.sessions.commands.ask import Ask, Reply, introduce
from threadline.sessions.deliveries.buttons import LABEL_LIMIT, MOST_CHOICES
from threadline.sessions.phrases import ago, count, name

LISTED = 20
"""Conversations that a list in a chat shows."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_ID = re.compile(r"[0-9]{8}_[0-9]{6}_[0-9a-f]{8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The conversation that somebody means."""

    id: SessionId
    is_known: bool
    """It is among those that were listed; of any other it has to be asked who may see it."""
    others: str
    """What is said of older ones that also matched."""


def new(ask: Ask) -> Reply:
    """Begin a new conversation, with a title or without."""
    inbound, title = ask.inbound, ask.title()
    change = conversations.reset(
        ask.tx,
        inbound.address,
        inbound.sender,
        profile=inbound.profile,
        title=title,
        rules=ask.rules,
        now=ask.now,
        new_id=ask.new_id,
    )
    called = f" called “{title}”" if title else ""
    back = " /resume leads back to the last one." if change.left_id is not None else ""
    return Reply(text=f"This is a new conversation{called}.{back}")


def reset(ask: Ask) -> Reply:
    """Begin a new conversation."""
    return new(ask)


def resume(ask: Ask) -> Reply:
    """Go on with an earlier conversation, or list them to choose from."""
    found = find_meant(ask)
    if isinstance(found, Reply):
        return found
    id, inbound = found.id, ask.inbound
    if found.is_known and id == ask.here():
        return Reply(text=tell_already(ask, found))
    words = introduce(ask.tx, id, now=ask.now) if found.is_known else None
    conversations.switch(
        ask.tx,
        inbound.address,
        inbound.sender,
        profile=inbound.profile,
        to=id,
        rules=ask.rules,
        now=ask.now,
    )
    return Reply(text=f"Continuing {words or introduce(ask.tx, id, now=ask.now)}.{found.others}")


def tell_already(ask: Ask, found: Found) -> str:
    """Say that somebody is where they want to go."""
    return f"You are there already: {introduce(ask.tx, found.id, now=ask.now)}.{found.others}"


def find_meant(ask: Ask) -> Found | Reply:
    """Find the conversation that is meant, or list those that it may be."""
    own = ask.own()
    if not ask.argument:
        return _listing(ask, own, own, "Your conversations:")
    found = _find(own, ask.argument)
    newest = _newest_of_lineages(found)
    if len(newest) > 1:
        return _listing(ask, own, newest, f"Several match “{clean_title(ask.argument)}”:")
    target = newest[0].session if newest else None
    if target is None and ask.is_overheard:
        hint = "All of yours can be resumed in a private chat"
        raise NotFound("No conversation in this chat has this id", hint=hint)
    id = checked_session_id(ask.argument) if target is None else target.id
    others = ""
    if len(found) > 1:
        others = f" {count(len(found) - 1, 'older one')} also matched; /resume lists them."
    return Found(id=id, is_known=target is not None, others=others)


def _find(own: Sequence[SessionRow], wanted: str) -> Sequence[SessionRow]:
    """Find what a person means: a number of the list, an id, or words of a title."""
    if _ID.fullmatch(wanted):
        # An id that is not among the latest is not lost: the switch looks whether it may be seen.
        return [row for row in own if row.session.id == wanted]
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


def _newest_of_lineages(rows: Sequence[SessionRow]) -> list[SessionRow]:
    newest: dict[SessionId, SessionRow] = {}
    for row in rows:
        newest.setdefault(row.session.root_id, row)
    return list(newest.values())


def sessions(ask: Ask) -> Reply:
    """List the conversations of whoever asks."""
    own = ask.own()
    if not ask.argument:
        return _listing(ask, own, own, "Your conversations:")
    found = _titled(own, ask.argument)
    return _listing(ask, own, found, f"Conversations with “{clean_title(ask.argument)}”:")


def _listing(
    ask: Ask, own: Sequence[SessionRow], found: Sequence[SessionRow], heading: str
) -> Reply:
    """List conversations under the numbers by which they can be resumed."""
    if not found:
        return Reply(text="There are no such conversations." if own else "There are none yet.")
    here = ask.here()
    numbers = {row.session.id: number for number, row in enumerate(own, start=1)}
    shown = found[:LISTED]
    width = len(str(max(numbers[row.session.id] for row in shown)))
    lines = [
        f"{numbers[row.session.id]:>{width}}. {name(row.session)}"
        f" · {ago(row.session.last_activity_at, ask.now)}"
        f"{' · branch' if row.session.cause is Cause.BRANCH else ''}"
        f"{' · answering now' if row.held is not None else ''}"
        f"{' · you are here' if row.session.id == here else ''}"
        for row in shown
    ]
    if len(found) > len(shown):
        lines.append(f"… and {len(found) - len(shown):,} more: /sessions and a word of the title")
    lines.append("/resume and a number goes on with one of them.")
    others = [row.session for row in shown if row.session.id != here]
    return Reply(
        text="\n".join([heading, *lines]),
        choices=tuple(_button(session) for session in others[:MOST_CHOICES]),
    )


def _button(session: Session) -> Choice:
    label = clean_title(session.title or "", LABEL_LIMIT) or "Untitled"
    return Choice(label=label, says=f"/resume {session.id}")
