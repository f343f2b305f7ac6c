"""Usage: what one call of a model spent, and what that cost."""

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from threadline.core.usage import COST_LIMIT, TOKENS_LIMIT, CostStatus, Usage
from threadline.core.validation import ID_LIMIT

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse


def read_model_usage(
    response: "ModelResponse", *, provider: str, model: str, task: str = "turn"
) -> Usage:
    """Read what a call spent: `provider` and `model` are those of the configuration.

    The model that answered may be called more precisely than the one that was asked.
    """
    spent = response.usage
    cost, status = _cost_of(response)
    return Usage(
        provider=provider,
        model=_checked_name(response.model_name) or model,
        task=task,
        input_tokens=_count(spent.input_tokens),
        output_tokens=_count(spent.output_tokens),
        cache_read_tokens=_count(spent.cache_read_tokens),
        cache_write_tokens=_count(spent.cache_write_tokens),
        reasoning_tokens=_count(_reasoning_in(response)),
        prompt_tokens=_count(spent.input_tokens),
        cost=cost,
        cost_status=status,
    )


def _cost_of(response: "ModelResponse") -> tuple[Decimal | None, CostStatus]:
    """Tell what a call cost: as the provider itself says, else by the list of prices."""
    told = _told_cost(response)
    if told is not None:
        return told, CostStatus.EXACT
    if not response.model_name:
        return None, CostStatus.UNKNOWN
    try:
        price = response.cost().total_price
    except (LookupError, ValueError):
        # Nobody lists this model, or the provider did not say what was spent.
        return None, CostStatus.UNKNOWN
    cost = _checked_cost(price)
    return cost, CostStatus.UNKNOWN if cost is None else CostStatus.ESTIMATED


def _told_cost(response: "ModelResponse") -> Decimal | None:
    told = (response.provider_details or {}).get("cost")
    if response.provider_name != "openrouter" or isinstance(told, bool):
        return None
    return _checked_cost(told) if isinstance(told, int | float | str) else None


def _checked_cost(cost: object) -> Decimal | None:
    try:
        value = Decimal(str(cost))
    except InvalidOperation:
        return None
    return value if value.is_finite() and 0 <= value <= COST_LIMIT else None


def _reasoning_in(response: "ModelResponse") -> int:
    spent = response.usage
    return spent.output_reasoning_tokens or spent.details.get("reasoning_tokens", 0)


def _count(tokens: object) -> int:
    """Take a count of tokens from outside; a server may count whatever it likes."""
    if isinstance(tokens, int) and not isinstance(tokens, bool):
        return min(max(tokens, 0), TOKENS_LIMIT)
    return 0


def _checked_name(name: str | None) -> str | None:
    """Take the name that a provider gives its model, if it can be kept."""
    if not name or not name.isprintable() or len(name.encode()) > ID_LIMIT:
        return None
    return name
