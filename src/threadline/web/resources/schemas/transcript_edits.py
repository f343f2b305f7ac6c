"""Cuts, and what hiding and showing lines answers."""

from pydantic import Field

from threadline.core.hidden_range import (
    Edited,
    HiddenRange,
    HiddenRangeKind,
    Redone,
    Retried,
    Undone,
)
from threadline.web.resources.schemas.bodies import Moment, RequestBody, ResponseBody
from threadline.web.resources.schemas.sessions import TITLE_MOST, SessionView


class HiddenRangeView(ResponseBody):
    """A stretch of a transcript that is out of sight, its first and last line included."""

    key: int
    kind: HiddenRangeKind
    from_seq: int
    to_seq: int
    user_messages: int
    summary: str | None = Field(description="What the model is shown in its place.")
    made_at: Moment

    @classmethod
    def from_cut(cls, cut: HiddenRange) -> "HiddenRangeView":
        """Show a cut."""
        return cls(
            key=cut.key,
            kind=cut.kind,
            from_seq=cut.from_seq,
            to_seq=cut.to_seq,
            user_messages=cut.user_messages,
            summary=cut.summary,
            made_at=cut.made_at,
        )


class HiddenRangesView(ResponseBody):
    """All cuts of a transcript, in the order they were made."""

    items: list[HiddenRangeView]


class UndoRequest(RequestBody):
    """How much is taken back."""

    turns: int = Field(default=1, ge=1, le=10_000)


class UndoneView(ResponseBody):
    """What was taken back."""

    from_seq: int
    messages: int
    turns: int
    texts: list[str] = Field(description="What the person had written, so that it can be offered.")

    @classmethod
    def from_undone(cls, undone: Undone) -> "UndoneView":
        """Show it."""
        return cls(
            from_seq=undone.from_seq,
            messages=undone.messages,
            turns=undone.turns,
            texts=list(undone.texts),
        )


class RedoneView(ResponseBody):
    """What is shown again."""

    from_seq: int
    messages: int

    @classmethod
    def from_redone(cls, redone: Redone) -> "RedoneView":
        """Show it."""
        return cls(from_seq=redone.from_seq, messages=redone.messages)


class RetriedView(ResponseBody):
    """A turn that answers the last words of a person once more."""

    turn_id: int
    messages: int = Field(description="The lines of the answer before it, which are hidden now.")

    @classmethod
    def from_retried(cls, retried: Retried) -> "RetriedView":
        """Show it."""
        return cls(turn_id=retried.turn_id, messages=retried.messages)


class EditedView(ResponseBody):
    """The branch in which a line reads differently, and the turn that answers it there."""

    session: SessionView
    turn_id: int

    @classmethod
    def from_edited(cls, edited: Edited) -> "EditedView":
        """Show it."""
        return cls(session=SessionView.from_session(edited.session), turn_id=edited.turn_id)


class BranchRequest(RequestBody):
    """A branch of a conversation."""

    title: str | None = Field(default=None, max_length=TITLE_MOST)


class CompressRequest(RequestBody):
    """What a summary shall look at above all."""

    focus: str = Field(default="", max_length=1000, examples=["what was decided"])


class CompressedView(ResponseBody):
    """What came of making room."""

    said: str = Field(description="As a sentence: what was done, or why nothing was.")
    cut: HiddenRangeView | None = Field(
        description="The cut that was made; null: nothing was done."
    )
