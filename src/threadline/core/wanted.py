"""What is wanted of a session: what is named shall be so, and everything else stays."""

from dataclasses import dataclass
from enum import Enum

from threadline.core.session import ModelChoice, ProjectKey
from threadline.core.turn import BusyMode


class Kept(Enum):
    """Stands where nothing shall be different, as None takes a choice back."""

    KEPT = "kept"


KEPT = Kept.KEPT


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What shall be different about a session."""

    title: str | Kept = KEPT
    is_pinned: bool | Kept = KEPT
    is_archived: bool | Kept = KEPT
    project: ProjectKey | Kept | None = KEPT
    model: ModelChoice | Kept | None = KEPT
    busy_mode: BusyMode | Kept | None = KEPT
    personality: str | Kept | None = KEPT
    tools: tuple[str, ...] | Kept | None = KEPT
    workspace: str | Kept | None = KEPT
