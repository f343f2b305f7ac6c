"""Session patch: what is named shall be so, and everything else stays."""

from enum import Enum

from msgspec import Struct

from threadline.core.session import (
    BusyMode,
    ModelChoice,
    ProjectKey,
    checked_folder,
    checked_project_key,
    checked_tools,
)
from threadline.core.validation import (
    checked_choice,
    checked_flag,
    checked_id,
    checked_text,
    checked_type,
)


class Unchanged(Enum):
    """Stands where nothing shall be different, as None takes a choice back."""

    KEPT = "kept"


KEPT = Unchanged.KEPT


class SessionPatch(Struct, frozen=True, kw_only=True):
    """What shall be different about a session."""

    title: str | Unchanged = KEPT
    is_pinned: bool | Unchanged = KEPT
    is_archived: bool | Unchanged = KEPT
    project: ProjectKey | Unchanged | None = KEPT
    model: ModelChoice | Unchanged | None = KEPT
    busy_mode: BusyMode | Unchanged | None = KEPT
    personality: str | Unchanged | None = KEPT
    tools: tuple[str, ...] | Unchanged | None = KEPT
    workspace: str | Unchanged | None = KEPT

    def __post_init__(self) -> None:
        """Refuse what no session can have."""
        if self.title is not KEPT:
            checked_text(self.title, "title")
        for flag, what in ((self.is_pinned, "is_pinned"), (self.is_archived, "is_archived")):
            if flag is not KEPT:
                checked_flag(flag, what)
        if self.project is not KEPT and self.project is not None:
            checked_project_key(self.project)
        if self.model is not KEPT and self.model is not None:
            checked_type(self.model, "model choice", ModelChoice)
        if self.busy_mode is not KEPT and self.busy_mode is not None:
            checked_choice(self.busy_mode, "busy mode", BusyMode)
        if self.personality is not KEPT and self.personality is not None:
            checked_id(self.personality, "personality")
        if self.tools is not KEPT and self.tools is not None:
            checked_tools(self.tools)
        if self.workspace is not KEPT and self.workspace is not None:
            checked_folder(self.workspace, "workspace")
