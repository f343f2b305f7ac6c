"""Pins: pinned, archived, and put into projects."""

import json
from collections.abc import Callable, Sequence
from typing import TypeAlias

from threadline.core.account import Account
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.session import ProjectKey, SessionId
from threadline.core.session_list import BatchOutcome
from threadline.database.port import Transaction, expect
from threadline.store.people.visibility import list_visible
from threadline.store.session_writer import SessionWriter, write_session_by_key

Step: TypeAlias = Callable[[SessionWriter], bool]
"""Does something to one session; False: it was so already."""


def arrange(
    tx: Transaction,
    ids: Sequence[SessionId],
    step: Step,
    *,
    viewer: Account | None = None,
) -> list[BatchOutcome]:
    """Do the same to several sessions; answer for each of them what became of it.

    To a viewer, a session that they may not see does not exist.
    """
    errors: dict[str, str] = dict.fromkeys(ids, "There is no such session")
    seen = set(ids) if viewer is None else list_visible(tx, viewer, set(ids))
    # By their keys, as everybody does who takes several sessions.
    for row in tx.all("find_session_keys", ids=json.dumps(sorted(seen))):
        id = row.text("id")
        del errors[id]
        try:
            with write_session_by_key(tx, row.number("key")) as writer:
                if step(writer):
                    writer.tell(EventKind.SESSION_CHANGED)
        except NotFound as error:
            errors[id] = str(error)
    return [BatchOutcome(id=id, error=errors.get(id)) for id in ids]


def pin(writer: SessionWriter) -> bool:
    """Let a session stand before the others."""
    return writer.tx.one("pin_session", key=writer.key, now=writer.at) is not None


def unpin(writer: SessionWriter) -> bool:
    """Let a session stand where its activity puts it."""
    return writer.tx.one("unpin_session", key=writer.key) is not None


def archive(writer: SessionWriter) -> bool:
    """Put a session out of sight; one that is pinned stays so, in the archive."""
    return writer.tx.one("archive_session", key=writer.key, now=writer.at) is not None


def unarchive(writer: SessionWriter) -> bool:
    """Take a session out of the archive."""
    return writer.tx.one("unarchive_session", key=writer.key) is not None


def move_to_project(project: ProjectKey | None) -> Step:
    """Put a session into a project of its profile; None takes it out of the one it is in."""

    def move(writer: SessionWriter) -> bool:
        tx = writer.tx
        if project is not None:
            shared = tx.one("share_project", key=project)
            own = expect(tx, "read_profile", key=writer.key)
            if shared is None or shared["profile"] != own["profile"]:
                raise NotFound("There is no such project in its profile", id=str(project))
        moved = tx.one("move_session", key=writer.key, project_key=project)
        return moved is not None

    return move
