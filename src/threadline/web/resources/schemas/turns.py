"""Turns, questions and leave, as answers show them."""

from pydantic import AwareDatetime, Field

from threadline.core.approval import Approval, PermissionDuration, ToolPermission
from threadline.core.turn import Awaits, Turn, TurnState
from threadline.web.resources.schemas.bodies import Moment, RequestBody, ResponseBody

WORDS_MOST = 10_000


class TurnView(ResponseBody):
    """One request being answered."""

    id: int
    session_id: str
    state: TurnState
    attempts: int
    queued_at: Moment
    started_at: Moment | None
    ended_at: Moment | None
    first_seq: int | None
    question: str | None = Field(description="What it asks while it waits, or asked last.")
    asked_at: Moment | None = Field(description="When it asked; no two of its questions have one.")
    asks: list[str] = Field(description="The tools it asks permission for.")
    awaits: Awaits | None = Field(
        description="Who has to approve those tools; null: the settings say who."
    )
    answer: str | None
    error: str | None
    answered_by: int | None

    @classmethod
    def from_turn(cls, turn: Turn) -> "TurnView":
        """Show a turn."""
        return cls(
            id=turn.id,
            session_id=turn.session_id,
            state=turn.state,
            attempts=turn.attempts,
            queued_at=turn.queued_at,
            started_at=turn.started_at,
            ended_at=turn.ended_at,
            first_seq=turn.first_seq,
            question=turn.question,
            asked_at=turn.asked_at,
            asks=list(turn.asks),
            awaits=turn.awaits,
            answer=turn.answer,
            error=turn.error,
            answered_by=turn.answered_by,
        )


class StoppedView(ResponseBody):
    """Whether something was stopped."""

    turn_id: int | None = Field(description="The turn; null: nothing was under way.")


class DecisionRequest(RequestBody):
    """What is decided about what an agent asks."""

    approval: Approval
    asked_at: AwareDatetime = Field(
        description="The question that is decided, by the `asked_at` of its turn as it was shown."
    )
    extent: PermissionDuration = Field(
        default=PermissionDuration.ONCE, description="How long permission is given for."
    )
    words: str = Field(default="", max_length=WORDS_MOST, description="What the agent is told.")


class DecidedView(ResponseBody):
    """What a decision brought a turn to."""

    turn_id: int
    state: TurnState


class ToolPermissionView(ResponseBody):
    """Leave to use a tool without asking."""

    key: int
    profile: str
    session_id: str | None = Field(description="Null: in every conversation of the profile.")
    tool: str
    extent: PermissionDuration
    allowed_at: Moment
    by_name: str | None

    @classmethod
    def from_allowance(cls, one: ToolPermission) -> "ToolPermissionView":
        """Show leave."""
        return cls(
            key=one.key,
            profile=one.profile,
            session_id=one.session_id,
            tool=one.tool,
            extent=one.extent,
            allowed_at=one.allowed_at,
            by_name=one.by_name,
        )
