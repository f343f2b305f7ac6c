"""A revision: one state of a thing, told from all others, so that nobody overwrites the unseen."""

import hashlib
from typing import TypeAlias

from threadline.core.errors import Stale

Seen: TypeAlias = frozenset[str]
"""The revisions that whoever wants to change something takes it to have."""


def revision_of(*values: object) -> str:
    """Name a state by a hash of what can be changed about it."""
    return hashlib.sha256(repr(values).encode()).hexdigest()[:32]


def require_seen(revision: int | str, seen: Seen | None, id: str) -> None:
    """Refuse a change by somebody who has not seen what they would change; None sees whatever."""
    if seen is not None and str(revision) not in seen:
        raise Stale(id=id, hint="Read it again, then decide")
