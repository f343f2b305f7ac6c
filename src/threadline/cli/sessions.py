"""`threadline sessions show`: what was said in a session, and what goes on there."""

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from threadline.cli.identity_argument import AsJson, Database, Limit, SessionArg
from threadline.cli.output import as_plain, local, show_marker, show_text, write_json
from threadline.core.message import Attachment, Marker, Message, Part, ToolCall, pack
from threadline.core.session import Session, SessionId
from threadline.core.turn import Turn
from threadline.store import queries
from threadline.store.formatting import ago, name, why
from threadline.store.queries import LARGEST_PAGE, list_queue, routes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from threadline.cli.store_opener import Opened
    from threadline.config import Config

app = typer.Typer(name="sessions", help="List, show and change sessions.", no_args_is_help=True)


@app.command()
def show(
    id: SessionArg,
    database: Database = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show a session and the end of its transcript."""
    from threadline.config import load_config

    shown = asyncio.run(_show(load_config({"database": database}), id, limit, as_json=as_json))

    if isinstance(shown, str):
        show_text(shown)
    else:
        write_json(shown)


async def _show(
    config: "Config", prefix: str, limit: int, *, as_json: bool
) -> str | dict[str, object]:
    from threadline.cli.store_opener import open_store
    from threadline.store.stats import find_session

    async with open_store(config) as opened:
        id = await opened.database.read(find_session, prefix)
        session = await opened.database.read(queries.read_session, id)
        lines = await _last_lines(opened, id, limit + 1)
        has_more, lines = len(lines) > limit, lines[-limit:]
        waiting = await opened.database.read(list_queue, id)
        turns = await opened.database.read(queries.turns, id, 10)
        if not as_json:
            facts = _facts(session, turns, opened.store.now())
            return "\n".join([*facts, "", *_said(lines, waiting, has_more=has_more)])
        return {
            **session_as_dict(session),
            "routes": await opened.database.read(routes_of, id),
            "turns": [_turn_as_dict(turn) for turn in turns],
            "messages": [_message_as_dict(line) for line in lines],
            "waiting": [_message_as_dict(line) for line in waiting],
        }


async def _last_lines(opened: "Opened", id: SessionId, limit: int) -> list[Message]:
    lines: list[Message] = []
    while len(lines) < limit:
        most = min(limit - len(lines), LARGEST_PAGE)
        before = lines[0].seq if lines else None
        page = await opened.database.read(
            queries.transcript, id, before=before, after=None, around=None, most=most, hidden=False
        )
        lines = page + lines
        if len(page) < most:
            break
    return lines


def _facts(session: Session, turns: "Sequence[Turn]", now: datetime) -> list[str]:
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
    return facts + [f"turn {turn.id} is {turn.state}" for turn in turns if turn.ended_at is None]


def _said(lines: list[Message], waiting: list[Message], *, has_more: bool) -> list[str]:
    """Write lines under the numbers by which they are known; what waits has none yet."""
    width = len(str(lines[-1].seq)) if lines else 0
    before = ["… and earlier lines; --limit shows them"] if has_more else []
    said = [
        f"{line.seq:>{width}}  {local(line.at)}  {_speaker(line)}: {_words(line)}" for line in lines
    ]
    queued = [
        f"{'':>{width}}  {local(line.at)}  {_speaker(line)} (waiting): {_words(line)}"
        for line in waiting
    ]
    return [*before, *said, *queued]


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


def session_as_dict(session: Session) -> dict[str, object]:
    """Give plain values, fit for JSON."""
    return {name: as_plain(getattr(session, name)) for name in session.__struct_fields__}


def _turn_as_dict(turn: Turn) -> dict[str, object]:
    return {name: getattr(turn, name) for name in turn.__struct_fields__}


def _message_as_dict(line: Message) -> dict[str, object]:
    import json

    plain = {name: getattr(line, name) for name in line.__struct_fields__}
    parts = pack(line.parts)[1]
    plain["parts"] = [{"type": "text", "text": line.text}] if parts is None else json.loads(parts)
    return {**plain, "text": line.text}
