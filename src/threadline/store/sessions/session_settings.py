"""Session settings: title, summary, model, manners when busy, tools, folders."""

import json
from collections.abc import Sequence

from threadline.core.errors import Invalid
from threadline.core.event import EventKind
from threadline.core.session import (
    BusyMode,
    ModelChoice,
    SessionId,
    TitleSource,
    Worktree,
    checked_folder,
    checked_tools,
)
from threadline.core.ssrf import is_machine_own
from threadline.core.validation import (
    checked_choice,
    checked_id,
    checked_text,
    checked_type,
    clean_title,
)
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.queries import LARGEST_PAGE, session_state
from threadline.store.session_writer import SessionWriter, write_session
from threadline.store.sessions.pins import Step
from threadline.store.transcripts.titles import GivenTitle

_RANK = {source: rank for rank, source in enumerate(TitleSource)}


def set_choice(tx: Transaction, id: SessionId, step: Step) -> None:
    """Make one choice for a session; what it has chosen already is no news."""
    with write_session(tx, id) as writer:
        if step(writer):
            writer.tell(EventKind.SESSION_CHANGED)


def set_title(tx: Transaction, id: SessionId, title: str, *, source: TitleSource) -> str:
    """Give a session a title, and answer the one that it has now."""
    set_choice(tx, id, set_session_title(title, source))
    return session_state(tx, id).title or ""


def set_session_title(title: str, source: TitleSource) -> Step:
    """Give a session a title; one that a person gave stays until a person gives another."""
    cleaned = clean_title(checked_text(title, "title"))

    def step(writer: SessionWriter) -> bool:
        if not cleaned:
            raise Invalid("A title needs at least one visible character", id=writer.id)
        given = expect(writer.tx, "read_titled_by", GivenTitle, key=writer.key)
        if given.titled_by is not None and _RANK[given.titled_by] > _RANK[source]:
            return False
        return writer.tx.exists("set_title", key=writer.key, title=cleaned, titled_by=source)

    return step


def set_model(choice: ModelChoice | None) -> Step:
    """Choose the model of a session; None leaves it to the configuration again."""
    if choice is not None:
        checked_type(choice, "model choice", ModelChoice)

    def step(writer: SessionWriter) -> bool:
        base_url = None if choice is None else choice.base_url
        if base_url is not None and is_machine_own(base_url):
            hint = "If it is meant, name it in the settings at the machine itself"
            what = "No model is asked at an address of the machine's own"
            raise Invalid(what, id=writer.id, hint=hint)
        return writer.tx.exists(
            "set_model",
            key=writer.key,
            model=None if choice is None else choice.model,
            provider=None if choice is None else choice.provider,
            base_url=base_url,
        )

    return step


def set_busy_mode(mode: BusyMode | None) -> Step:
    """Choose what becomes of messages that arrive while a turn of a session runs."""
    wanted = None if mode is None else checked_choice(mode, "busy mode", BusyMode)

    def step(writer: SessionWriter) -> bool:
        return writer.tx.exists("set_busy_mode", key=writer.key, busy_mode=wanted)

    return step


def set_personality(personality: str | None) -> Step:
    """Choose who the agent is in a session; None leaves it to the configuration again."""

    def step(writer: SessionWriter) -> bool:
        if personality is not None and not checked_id(personality, "personality").strip():
            raise Invalid("A personality needs a name", id=writer.id)
        return writer.tx.exists("set_personality", key=writer.key, personality=personality)

    return step


def set_tools(tools: Sequence[str] | None) -> Step:
    """Allow a session these tools and no others; None: those of its platform and profile."""
    allowed = None if tools is None else json.dumps(checked_tools(tools))

    def step(writer: SessionWriter) -> bool:
        return writer.tx.exists("set_tools", key=writer.key, tools=allowed)

    return step


def set_workspace(workspace: str | None) -> Step:
    """Choose the folder in which a session works."""
    folder = None if workspace is None else checked_folder(workspace, "workspace")

    def step(writer: SessionWriter) -> bool:
        return writer.tx.exists("set_workspace", key=writer.key, workspace=folder)

    return step


def set_summary(tx: Transaction, id: SessionId, summary: str) -> None:
    """Keep what a session was about, so that the one after it can be told."""
    checked_text(summary, "summary")
    with write_session(tx, id) as writer:
        tx.run("set_summary", key=writer.key, summary=summary)
        writer.tell(EventKind.SESSION_CHANGED)


def set_worktree(tx: Transaction, id: SessionId, worktree: Worktree | None) -> None:
    """Remember the working copy that a session has for itself; None: it is gone."""
    if worktree is not None:
        checked_type(worktree, "worktree", Worktree)
    with write_session(tx, id) as writer:
        tx.run(
            "set_worktree",
            key=writer.key,
            path=None if worktree is None else worktree.path,
            branch=None if worktree is None else worktree.branch,
            repository=None if worktree is None else worktree.repository,
            at=None if worktree is None else stamp(worktree.at),
        )
        writer.tell(EventKind.SESSION_CHANGED)


def last_workspace(tx: Transaction, *, profile: str) -> str | None:
    """Tell in which folder the latest sessions of a profile worked: the next one may go on there.

    Only the latest thousand are looked at.
    """
    return tx.one("find_last_workspace", str, profile=profile, most=LARGEST_PAGE)
