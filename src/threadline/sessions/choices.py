"""Choices that belong to a session: title, summary, model, manners when busy, tools, folders."""

import json
from collections.abc import Sequence
from datetime import datetime

from threadline.core.errors import Invalid
from threadline.core.event import EventKind
from threadline.core.reach import is_machine_own
from threadline.core.session import (
    ModelChoice,
    SessionId,
    TitleSource,
    Worktree,
    checked_folder,
    checked_tools,
)
from threadline.core.text import checked_id, checked_text, checked_type, clean_title
from threadline.core.turn import BusyMode
from threadline.sessions.chronicle import open_chronicle
from threadline.sessions.views import LARGEST_PAGE
from threadline.storage.database import Transaction, expect
from threadline.storage.moments import stamp

_RANK = {source: rank for rank, source in enumerate(TitleSource)}


def set_title(
    tx: Transaction, id: SessionId, title: str, *, source: TitleSource, now: datetime
) -> str:
    """Give a session a title; one that a person gave stays until a person gives another.

    Answers the title that the session has now.
    """
    cleaned = clean_title(checked_text(title, "title"))
    if not cleaned:
        raise Invalid("A title needs at least one visible character", id=id)
    with open_chronicle(tx, id, now) as chronicle:
        row = expect(tx, "read_titled_by", key=chronicle.key)
        given_by = row.text_or_none("titled_by")
        if given_by is not None and _RANK[TitleSource(given_by)] > _RANK[source]:
            return row.text("title")
        tx.run("set_title", key=chronicle.key, title=cleaned, titled_by=source)
        chronicle.tell(EventKind.SESSION_CHANGED)
    return cleaned


def set_summary(tx: Transaction, id: SessionId, summary: str, *, now: datetime) -> None:
    """Keep what a session was about, so that the one after it can be told."""
    checked_text(summary, "summary")
    with open_chronicle(tx, id, now) as chronicle:
        tx.run("set_summary", key=chronicle.key, summary=summary)
        chronicle.tell(EventKind.SESSION_CHANGED)


def choose_model(
    tx: Transaction, id: SessionId, choice: ModelChoice | None, *, now: datetime
) -> None:
    """Choose the model of a session; None leaves it to the configuration again."""
    if choice is not None:
        checked_type(choice, "model choice", ModelChoice)
        if choice.base_url is not None and is_machine_own(choice.base_url):
            hint = "If it is meant, name it in the settings at the machine itself"
            raise Invalid("No model is asked at an address of the machine's own", id=id, hint=hint)
    with open_chronicle(tx, id, now) as chronicle:
        tx.run(
            "set_model",
            key=chronicle.key,
            model=None if choice is None else choice.model,
            provider=None if choice is None else choice.provider,
            base_url=None if choice is None else choice.base_url,
        )
        chronicle.tell(EventKind.SESSION_CHANGED)


def set_busy_mode(tx: Transaction, id: SessionId, mode: BusyMode | None, *, now: datetime) -> None:
    """Choose what becomes of messages that arrive while a turn of this session runs."""
    with open_chronicle(tx, id, now) as chronicle:
        tx.run("set_busy_mode", key=chronicle.key, busy_mode=mode)
        chronicle.tell(EventKind.SESSION_CHANGED)


def set_personality(
    tx: Transaction, id: SessionId, personality: str | None, *, now: datetime
) -> None:
    """Choose who the agent is in a session; None leaves it to the configuration again."""
    if personality is not None and not checked_id(personality, "personality").strip():
        raise Invalid("A personality needs a name", id=id)
    with open_chronicle(tx, id, now) as chronicle:
        tx.run("set_personality", key=chronicle.key, personality=personality)
        chronicle.tell(EventKind.SESSION_CHANGED)


def allow_tools(
    tx: Transaction, id: SessionId, tools: Sequence[str] | None, *, now: datetime
) -> None:
    """Allow a session these tools and no others; None: those of its platform and profile."""
    allowed = None if tools is None else json.dumps(checked_tools(tools))
    with open_chronicle(tx, id, now) as chronicle:
        tx.run("set_tools", key=chronicle.key, tools=allowed)
        chronicle.tell(EventKind.SESSION_CHANGED)


def set_workspace(tx: Transaction, id: SessionId, workspace: str | None, *, now: datetime) -> None:
    """Choose the folder in which a session works."""
    if workspace is not None:
        checked_folder(workspace, "workspace")
    with open_chronicle(tx, id, now) as chronicle:
        tx.run("set_workspace", key=chronicle.key, workspace=workspace)
        chronicle.tell(EventKind.SESSION_CHANGED)


def set_worktree(
    tx: Transaction, id: SessionId, worktree: Worktree | None, *, now: datetime
) -> None:
    """Remember the working copy that a session has for itself; None: it is gone."""
    if worktree is not None:
        checked_type(worktree, "worktree", Worktree)
    with open_chronicle(tx, id, now) as chronicle:
        tx.run(
            "set_worktree",
            key=chronicle.key,
            path=None if worktree is None else worktree.path,
            branch=None if worktree is None else worktree.branch,
            repository=None if worktree is None else worktree.repository,
            at=None if worktree is None else stamp(worktree.at),
        )
        chronicle.tell(EventKind.SESSION_CHANGED)


def last_workspace(tx: Transaction, *, profile: str) -> str | None:
    """Tell in which folder the latest sessions of a profile worked: the next one may go on there.

    Only the latest thousand are looked at.
    """
    row = tx.one("find_last_workspace", profile=profile, most=LARGEST_PAGE)
    return None if row is None else row.text("workspace")
