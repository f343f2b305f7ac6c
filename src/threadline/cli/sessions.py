"""`threadline sessions`: what conversations there are, and what was said in them."""

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.options import AsJson, Database, Profile
from threadline.cli.screen import local, say, show_marker, show_table, write_json
from threadline.core.message import Attachment, Marker, Message, Part, ToolCall, pack
from threadline.core.session import Session, SessionId
from threadline.core.turn import Turn
from threadline.sessions.phrases import ago, brief, count, name, why
from threadline.sessions.views import LARGEST_PAGE, SessionRow

if TYPE_CHECKING:
    from threadline.cli.opening import Opened
    from threadline.config import Config

app = typer.Typer(name="sessions", help="List and show sessions.", no_args_is_help=True)

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at the most.")]


@app.command("list")
def list_sessions(
    database: Database = None,
    profile: Profile = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List the sessions of a profile, the latest activity first."""
    from threadline.config import load_config

    config = load_config({"database": database, "profile": profile})
    rows, now = asyncio.run(_list(config, limit))

    if as_json:
        write_json([_row_as_dict(row) for row in rows])
    elif not rows:
        say(f"Profile {config.profile} has no sessions yet.")
    else:
        lines = [
            (
                row.session.id,
                row.session.platform,
                _state(row),
                str(row.session.last_seq),
                brief(row.session.last_activity_at, now),
                row.session.title or "",
            )
            for row in rows
        ]
        show_table(("ID", "PLATFORM", "STATE", "LINES", "ACTIVE", "TITLE"), lines)


@app.command()
def show(
    id: Annotated[str, typer.Argument(metavar="ID", help="Its id, or how that begins.")],
    database: Database = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show a session and the end of its transcript."""
    from threadline.config import load_config

    shown = asyncio.run(_show(load_config({"database": database}), id, limit, as_json=as_json))

    if isinstance(shown, str):
        say(shown)
    else:
        write_json(shown)


async def _list(config: "Config", limit: int) -> tuple[list[SessionRow], datetime]:
    from threadline.cli.opening import open_store

    rows: list[SessionRow] = []
    after = None
    async with open_store(config) as opened:
        while len(rows) < limit:
            most = min(limit - len(rows), LARGEST_PAGE)
            page = await opened.store.sessions(profile=config.profile, after=after, most=most)
            rows += page.rows
            after = page.next
            if after is None:
                break
        return rows, opened.store.now()


async def _show(
    config: "Config", prefix: str, limit: int, *, as_json: bool
) -> str | dict[str, object]:
    from threadline.cli.opening import open_store
    from threadline.sessions.diagnosis import find_session

    async with open_store(config) as opened:
        id = await opened.database.read(find_session, prefix)
        session = await opened.store.session(id)
        lines = await _last_lines(opened, id, limit)
        waiting = await opened.store.queue(id)
        turns = await opened.store.turns(id, most=10)
        if not as_json:
            return _page(session, lines, waiting, turns, opened.store.now())
        return {
            **_as_dict(session),
            "routes": await opened.store.routes_of(id),
            "turns": [_turn_as_dict(turn) for turn in turns],
            "messages": [_message_as_dict(line) for line in lines],
            "waiting": [_message_as_dict(line) for line in waiting],
        }


async def _last_lines(opened: "Opened", id: SessionId, limit: int) -> list[Message]:
    lines: list[Message] = []
    while len(lines) < limit:
        most = min(limit - len(lines), LARGEST_PAGE)
        before = lines[0].seq if lines else None
        page = await opened.store.transcript(id, before=before, most=most)
        lines = page + lines
        if len(page) < most:
            break
    return lines


def _page(
    session: Session,
    lines: list[Message],
    waiting: list[Message],
    turns: list[Turn],
    now: datetime,
) -> str:

    begun = f"begun {local(session.opened_at)}"
    facts = [
        name(session),
        f"{session.id} · {session.platform} {session.kind} · profile {session.profile}",
        f"{begun} because {why(session.cause)} · last active {ago(session.last_activity_at, now)}",
    ]
    if session.ended_at is not None:
        facts.append(f"ended {local(session.ended_at)} ({session.end_reason})")
    if session.suspended_at is not None:
        facts.append(f"suspended {local(session.suspended_at)}")
    if session.parent_id is not None:
        facts.append(f"follows {session.parent_id}")
    unfinished = [f"turn {turn.id} is {turn.state}" for turn in turns if turn.ended_at is None]
    facts += unfinished
    if lines and (lines[0].seq or 1) > 1:
        hidden = (lines[0].seq or 1) - 1
        facts.append(f"… {count(hidden, 'earlier line')}; --limit shows more")
    said = [f"{local(line.at)}  {_speaker(line)}: {_words(line)}" for line in lines]
    queued = [f"{local(line.at)}  {_speaker(line)} (waiting): {_words(line)}" for line in waiting]
    return "\n".join([*facts, "", *said, *queued])


def _speaker(line: Message) -> str:
    return line.sender_name or line.sender_id or line.role.value


def _words(line: Message) -> str:
    text = "\n".join(filter(None, map(_part, line.parts)))
    shown = "(deleted)" if line.deleted_at is not None else text
    return shown.replace("\n", "\n    ")


def _part(part: Part) -> str:
    match part:
        case Marker():
            return f"[{show_marker(part)}]"
        case Attachment():
            return f"[{part.kind}: {part.name or part.media_type}]"
        case ToolCall():
            return f"[{part.name} {part.arguments}]"
        case _:
            return part.text


def _state(row: SessionRow) -> str:
    session = row.session
    if row.held is not None:
        return row.held.value
    if session.ended_at is not None:
        return "ended"
    return "suspended" if session.suspended_at is not None else "open"


def _row_as_dict(row: SessionRow) -> dict[str, object]:
    return {**_as_dict(row.session), "state": _state(row)}


def _as_dict(session: Session) -> dict[str, object]:
    plain = {name: getattr(session, name) for name in session.__slots__}
    choice = session.choice
    plain["choice"] = choice and {name: getattr(choice, name) for name in choice.__slots__}
    return plain


def _turn_as_dict(turn: Turn) -> dict[str, object]:
    return {name: getattr(turn, name) for name in turn.__slots__}


def _message_as_dict(line: Message) -> dict[str, object]:
    import json

    plain = {name: getattr(line, name) for name in line.__slots__}
    parts = pack(line.parts)[1]
    plain["parts"] = [{"type": "text", "text": line.text}] if parts is None else json.loads(parts)
    return {**plain, "text": line.text}
