"""Commands: what a person can ask for with a slash, in every chat. The table is in core."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from threadline.core.command import COMMANDS, Call, help_text
from threadline.core.errors import Conflict, Invalid, NotFound
from threadline.core.inbound import Inbound
from threadline.core.message import Role
from threadline.core.rules import Rules
from threadline.core.session import Session, SessionId, TitleSource, checked_session_id
from threadline.core.text import clean_title
from threadline.core.turn import HELD, TurnState
from threadline.sessions import choices, conversations, views
from threadline.sessions.conversations import NewId
from threadline.sessions.explain import Explanation, explain
from threadline.sessions.phrases import ago, count, describe, name, why
from threadline.sessions.turns import pause
from threadline.sessions.views import LARGEST_PAGE, SessionRow
from threadline.storage.database import Transaction

LISTED = 20
"""Conversations that a list in a chat shows."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_ID = re.compile(r"[0-9]{8}_[0-9]{6}_[0-9a-f]{8}")
_NAME = re.compile(r"/([a-z]+)(@\w+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a command answers."""

    text: str
    choices: Sequence[SessionRow] = ()
    """Conversations to choose from, in the order in which the text shows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """One command being carried out."""

    tx: Transaction
    inbound: Inbound
    argument: str
    rules: Rules
    now: datetime
    new_id: NewId

    def explanation(self) -> Explanation:
        return explain(
            self.tx,
            self.inbound.address,
            self.inbound.sender,
            profile=self.inbound.profile,
            rules=self.rules,
            now=self.now,
        )

    def here(self) -> SessionId | None:
        """Find the session that the next message would go on in; None: it begins a new one."""
        found = self.explanation()
        return found.session_id if found.cause is None else None

    def own(self) -> list[SessionRow]:
        """Read what the asker may see, the latest activity first."""
        inbound = self.inbound
        return views.list_own_sessions(
            self.tx, inbound.address, inbound.sender, profile=inbound.profile, most=LARGEST_PAGE
        )


def carry_out(
    tx: Transaction, inbound: Inbound, call: Call, *, rules: Rules, now: datetime, new_id: NewId
) -> Reply:
    """Do what a command asks for, and answer what to say."""
    ask = _Ask(tx=tx, inbound=inbound, argument=call.argument, rules=rules, now=now, new_id=new_id)
    return _VERBS[call.command.name](ask)


def find_unknown(text: str) -> NotFound | None:
    """Tell that a text looks like a command which does not exist, and which one may be meant.

    A path (`/etc/hosts`) and a lone slash are words like others.
    """
    words = text.split(maxsplit=1)
    form = _NAME.fullmatch(words[0]) if words else None
    names = [command.name for command in COMMANDS]
    if form is None or form[1].lower() in names:
        return None
    near = difflib.get_close_matches(form[1].lower(), names, n=1)
    hint = f"Did you mean /{near[0]}?" if near else "/help lists the commands"
    return NotFound(f"There is no command /{form[1]}", hint=hint)


def introduce(tx: Transaction, id: SessionId, *, now: datetime) -> str:
    """Say which conversation goes on: its name, when it was last spoken in, how long it is."""
    session = views.read_session(tx, id)
    when = ago(session.last_activity_at, now)
    return f"{name(session)} from {when} — {count(_said(tx, session), 'message')}"


def _new(ask: _Ask) -> Reply:
    inbound, title = ask.inbound, clean_title(ask.argument)
    if ask.argument and not title:
        raise Invalid("A title needs at least one visible character")
    change = conversations.reset(
        ask.tx,
        inbound.address,
        inbound.sender,
        profile=inbound.profile,
        title=title or None,
        rules=ask.rules,
        now=ask.now,
        new_id=ask.new_id,
    )
    called = f" called “{title}”" if title else ""
    back = " /resume leads back to the last one." if change.left_id is not None else ""
    return Reply(text=f"This is a new conversation{called}.{back}")


def _reset(ask: _Ask) -> Reply:
    if ask.argument:
        raise Invalid("/reset takes nothing after it", hint="/new gives a title")
    return _new(ask)


def _resume(ask: _Ask) -> Reply:
    own = ask.own()
    if not ask.argument:
        return _listing(ask, own, own, "Your conversations:")
    found = _find(own, ask.argument)
    newest = _newest_of_lineages(found)
    if len(newest) > 1:
        return _listing(ask, own, newest, f"Several match “{clean_title(ask.argument)}”:")
    target = newest[0].session if newest else None
    id = checked_session_id(ask.argument) if target is None else target.id
    others = ""
    if len(found) > 1:
        others = f" {count(len(found) - 1, 'older one')} also matched; /resume lists them."
    if id == ask.here():
        return Reply(text=f"You are there already: {introduce(ask.tx, id, now=ask.now)}.{others}")
    inbound = ask.inbound
    words = None if target is None else introduce(ask.tx, id, now=ask.now)
    conversations.switch(
        ask.tx,
        inbound.address,
        inbound.sender,
        profile=inbound.profile,
        to=id,
        rules=ask.rules,
        now=ask.now,
    )
    return Reply(text=f"Continuing {words or introduce(ask.tx, id, now=ask.now)}.{others}")


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
        raise NotFound(f"No conversation of yours is “{clean_title(wanted)}”", hint=_known(own))
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


def _sessions(ask: _Ask) -> Reply:
    own = ask.own()
    if not ask.argument:
        return _listing(ask, own, own, "Your conversations:")
    found = _titled(own, ask.argument)
    return _listing(ask, own, found, f"Conversations with “{clean_title(ask.argument)}”:")


def _listing(
    ask: _Ask, own: Sequence[SessionRow], found: Sequence[SessionRow], heading: str
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
        f"{' · answering now' if row.held is not None else ''}"
        f"{' · you are here' if row.session.id == here else ''}"
        for row in shown
    ]
    if len(found) > len(shown):
        lines.append(f"… and {len(found) - len(shown):,} more: /sessions and a word of the title")
    lines.append("/resume and a number goes on with one of them.")
    return Reply(text="\n".join([heading, *lines]), choices=tuple(shown))


def _title(ask: _Ask) -> Reply:
    id = ask.here()
    if id is None:
        hint = "Say something first, or begin with /new and a title"
        raise Conflict("There is no conversation yet that could have a title", hint=hint)
    if not ask.argument:
        return Reply(text=f"This is {name(views.read_session(ask.tx, id))}.")
    choices.set_title(ask.tx, id, ask.argument, source=TitleSource.PERSON, now=ask.now)
    return Reply(text=f"This is {name(views.read_session(ask.tx, id))} now.")


def _status(ask: _Ask) -> Reply:
    found, inbound = ask.explanation(), ask.inbound
    place = " ".join(filter(None, (inbound.address.platform, inbound.address.chat)))
    lines = [f"Here: {place}, profile {inbound.profile}."]
    if found.session_id is None or found.cause is not None:
        because = "" if found.cause is None else f": {why(found.cause)}"
        lines.append(f"The next message begins a new conversation{because}.")
    else:
        session = views.read_session(ask.tx, found.session_id)
        said, when = count(_said(ask.tx, session), "message"), ago(session.opened_at, ask.now)
        lines.append(f"Conversation: {name(session)} ({session.id}), {said}, begun {when}.")
        lines.append(_activity(ask, session))
    lines.append(f"It ends by itself: {describe(found.policy)}.")
    return Reply(text="\n".join(lines))


def _activity(ask: _Ask, session: Session) -> str:
    """Say what goes on in a session, without that being an activity."""
    unfinished = [turn for turn in views.turns(ask.tx, session.id) if turn.ended_at is None]
    waiting = sum(turn.state is TurnState.QUEUED for turn in unfinished)
    held = next((turn for turn in unfinished if turn.state in HELD), None)
    if held is None:
        state = "Nothing is running"
    elif held.state is TurnState.WAITING:
        state = f"It waits for your answer: {held.question}"
    else:
        since = ago(held.started_at or held.queued_at, ask.now)
        state = "A turn is running" + ("" if since == "a moment ago" else f", begun {since}")
    if waiting:
        return f"{state}; {count(waiting, 'message')} waiting."
    return state if state.endswith((".", "?", "!")) else f"{state}."


def _stop(ask: _Ask) -> Reply:
    id = ask.here()
    stopped = None if id is None else pause.stop_session(ask.tx, id, now=ask.now)
    return Reply(text="Nothing is running." if stopped is None else "Stopped.")


def _said(tx: Transaction, session: Session) -> int:
    """Count what was said, without the lines in between; those of a long transcript count, too."""
    if session.last_seq > LARGEST_PAGE:
        return session.last_seq
    lines = views.transcript(tx, session.id, most=LARGEST_PAGE)
    waiting = views.queue(tx, session.id)
    return sum(line.role in {Role.USER, Role.ASSISTANT} for line in [*lines, *waiting])


_VERBS: Mapping[str, Callable[[_Ask], Reply]] = {
    "new": _new,
    "reset": _reset,
    "resume": _resume,
    "sessions": _sessions,
    "title": _title,
    "status": _status,
    "stop": _stop,
    "help": lambda _: Reply(text=help_text()),
}
