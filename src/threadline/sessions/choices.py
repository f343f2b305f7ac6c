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
from threadline.core.text import (
    checked_choice,
    checked_id,
    checked_text,
    checked_type,
    clean_title,
)
from threadline.core.turn import BusyMode
from threadline.sessions.arrangement import Step
from threadline.sessions.chronicle import Chronicle, open_chronicle
from threadline.sessions.views import LARGEST_PAGE, session_row
from threadline.storage.database import Transaction, expect
from threadline.storage.moments import stamp

_RANK = {source: rank for rank, source in enumerate(TitleSource)}


def choose(tx: Transaction, id: SessionId, step: Step, *, now: datetime) -> None:
    """Make one choice for a session; what it has chosen already is no news."""
    with open_chronicle(tx, id, now) as chronicle:
        if step(chronicle):
            chronicle.tell(EventKind.SESSION_CHANGED)


def set_title(
    tx: Transaction, id: SessionId, title: str, *, source: TitleSource, now: datetime
) -> str:
    """Give a session a title, and answer the one that it has now."""
    choose(tx, id, entitle(title, source), now=now)
    return session_row(tx, id).text("title")


def entitle(title: str, source: TitleSource) -> Step:
    """Give a session a title; one that a person gave stays until a person gives another."""
    cleaned = clean_title(checked_text(title, "title"))

    def step(chronicle: Chronicle) -> bool:
        if not cleaned:
            raise Invalid("A title needs at least one visible character", id=chronicle.id)
        row = expect(chronicle.tx, "read_titled_by", key=chronicle.key)
        given_by = row.text_or_none("titled_by")
        if given_by is not None and _RANK[TitleSource(given_by)] > _RANK[source]:
            return False
        given = chronicle.tx.one("set_title", key=chronicle.key, title=cleaned, titled_by=source)
        return given is not None

    return step


def use_model(choice: ModelChoice | None) -> Step:
    """Choose the model of a session; None leaves it to the configuration again."""
    if choice is not None:
        checked_type(choice, "model choice", ModelChoice)

    def step(chronicle: Chronicle) -> bool:
        base_url = None if choice is None else choice.base_url
        if base_url is not None and is_machine_own(base_url):
            hint = "If it is meant, name it in the settings at the machine itself"
            what = "No model is asked at an address of the machine's own"
            raise Invalid(what, id=chronicle.id, hint=hint)
        chosen = chronicle.tx.one(
            "set_model",
            key=chronicle.key,
            model=None if choice is None else choice.model,
            provider=None if choice is None else choice.provider,
            base_url=base_url,
        )
        return chosen is not None

    return step


def behave(mode: BusyMode | None) -> Step:
    """Choose what becomes of messages that arrive while a turn of a session runs."""
    wanted = None if mode is None else checked_choice(mode, "busy mode", BusyMode)

    def step(chronicle: Chronicle) -> bool:
        return chronicle.tx.one("set_busy_mode", key=chronicle.key, busy_mode=wanted) is not None

    return step


def impersonate(personality: str | None) -> Step:
    """Choose who the agent is in a session; None leaves it to the configuration again."""

    def step(chronicle: Chronicle) -> bool:
        if personality is not None and not checked_id(personality, "personality").strip():
            raise Invalid("A personality needs a name", id=chronicle.id)
        chosen = chronicle.tx.one("set_personality", key=chronicle.key, personality=personality)
        return chosen is not None

    return step


def allow_tools(tools: Sequence[str] | None) -> Step:
    """Allow a session these tools and no others; None: those of its platform and profile."""
    allowed = None if tools is None else json.dumps(checked_tools(tools))

    def step(chronicle: Chronicle) -> bool:
        return chronicle.tx.one("set_tools", key=chronicle.key, tools=allowed) is not None

    return step


def work_in(workspace: str | None) -> Step:
    """Choose the folder in which a session works."""
    folder = None if workspace is None else checked_folder(workspace, "workspace")

    def step(chronicle: Chronicle) -> bool:
        return chronicle.tx.one("set_workspace", key=chronicle.key, workspace=folder) is not None

    return step


def set_summary(tx: Transaction, id: SessionId, summary: str, *, now: datetime) -> None:
    """Keep what a session was about, so that the one after it can be told."""
    checked_text(summary, "summary")
    with open_chronicle(tx, id, now) as chronicle:
        tx.run("set_summary", key=chronicle.key, summary=summary)
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
