"""Pins: pinned, archived, and put into projects."""

import json
from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from threadline.core.account import Account
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.session import ProjectKey, SessionId
from threadline.core.session_list import BatchOutcome
from threadline.database.port import Transaction
from threadline.store.people.visibility import list_visible
from threadline.store.session_writer import SessionWriter, write_session_by_key

Step: TypeAlias = Callable[[SessionWriter], bool]
"""Does something to one session; False: it was so already."""


class _SessionNames(Struct, frozen=True, kw_only=True):
    """The key and the id of a session."""

    key: int
    id: SessionId


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
    for found in tx.all("find_session_keys", _SessionNames, ids=json.dumps(sorted(seen))):
        del errors[found.id]
        try:
            with write_session_by_key(tx, found.key) as writer:
                if step(writer):
                    writer.tell(EventKind.SESSION_CHANGED)
        except NotFound as error:
            errors[found.id] = str(error)
    return [BatchOutcome(id=id, error=errors.get(id)) for id in ids]


def pin(writer: SessionWriter) -> bool:
    """Let a session stand before the others."""
    return writer.tx.exists("pin_session", key=writer.key, now=writer.at)


def unpin(writer: SessionWriter) -> bool:
    """Let a session stand where its activity puts it."""
    return writer.tx.exists("unpin_session", key=writer.key)


def archive(writer: SessionWriter) -> bool:
    """Put a session out of sight; one that is pinned stays so, in the archive."""
    return writer.tx.exists("archive_session", key=writer.key, now=writer.at)


def unarchive(writer: SessionWriter) -> bool:
    """Take a session out of the archive."""
    return writer.tx.exists("unarchive_session", key=writer.key)


def move_to_project(project: ProjectKey | None) -> Step:
    """Put a session into a project of its profile; None takes it out of the one it is in."""

    def move(writer: SessionWriter) -> bool:
        tx = writer.tx
        own = writer.session.profile
        if project is not None and tx.one("share_project", str, key=project) != own:
            raise NotFound("There is no such project in its profile", id=str(project))
        return tx.exists("move_session", key=writer.key, project_key=project)

    return move
