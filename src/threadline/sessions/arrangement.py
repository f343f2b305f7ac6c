"""The arrangement of sessions in lists: pinned, archived, and put into projects."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.listing import Outcome
from threadline.core.session import ProjectKey, SessionId
from threadline.sessions.chronicle import Chronicle, chronicle_of
from threadline.storage.database import Transaction, expect

Step: TypeAlias = Callable[[Chronicle], bool]
"""Does something to one session; False: it was so already."""


def arrange(
    tx: Transaction, ids: Sequence[SessionId], step: Step, *, now: datetime
) -> list[Outcome]:
    """Do the same to several sessions; answer for each of them what became of it."""
    errors: dict[str, str] = {id: str(NotFound("There is no such session", id=id)) for id in ids}
    # By their keys, as everybody does who takes several sessions.
    for row in tx.all("find_session_keys", ids=json.dumps(sorted(set(ids)))):
        id = row.text("id")
        del errors[id]
        try:
            with chronicle_of(tx, row.number("key"), now) as chronicle:
                if step(chronicle):
                    chronicle.tell(EventKind.SESSION_CHANGED)
        except NotFound as error:
            errors[id] = str(error)
    return [Outcome(id=id, error=errors.get(id)) for id in ids]


def pin(chronicle: Chronicle) -> bool:
    """Let a session stand before the others."""
    return chronicle.tx.one("pin_session", key=chronicle.key, now=chronicle.at) is not None


def unpin(chronicle: Chronicle) -> bool:
    """Let a session stand where its activity puts it."""
    return chronicle.tx.one("unpin_session", key=chronicle.key) is not None


def archive(chronicle: Chronicle) -> bool:
    """Put a session out of sight; one that is pinned stays so, in the archive."""
    return chronicle.tx.one("archive_session", key=chronicle.key, now=chronicle.at) is not None


def unarchive(chronicle: Chronicle) -> bool:
    """Take a session out of the archive."""
    return chronicle.tx.one("unarchive_session", key=chronicle.key) is not None


def into(project: ProjectKey | None) -> Step:
    """Put a session into a project of its profile; None takes it out of the one it is in."""

    def move(chronicle: Chronicle) -> bool:
        tx = chronicle.tx
        if project is not None:
            shared = tx.one("share_project", key=project)
            own = expect(tx, "read_profile", key=chronicle.key)
            if shared is None or shared["profile"] != own["profile"]:
                raise NotFound("There is no such project in its profile", id=str(project))
        moved = tx.one("move_session", key=chronicle.key, project_key=project)
        return moved is not None

    return move
