"""Models: those that a conversation may use, and what is known of them without asking anybody."""

import asyncio
from decimal import Decimal
from typing import Annotated

from msgspec import Meta

from threadline.assembly.model_list import KnownModel, survey_models
from threadline.web.bodies import View
from threadline.web.resources.auth_deps import Reading
from threadline.web.resources.deps import ConfigDep
from threadline.web.resources.pagination import Page
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import profile_of


class KnownModelView(View, frozen=True, kw_only=True):
    """A model that a conversation may use."""

    name: Annotated[str, Meta(examples=["openai:gpt-5"])]
    """As `/model` takes it."""
    provider: Annotated[str, Meta(examples=["openai"])]
    is_default: bool
    """It answers where nobody chose another one."""
    is_offered: bool
    """The settings name it."""
    is_usable: bool
    """Its provider has a key here, or asks for none."""
    context_tokens: int | None
    """How much it reads at once; null: unknown."""
    input_price: Decimal | None
    """US dollars for a million tokens, at the least; null: unknown."""
    output_price: Decimal | None

    @classmethod
    def from_model(cls, model: KnownModel) -> "KnownModelView":
        """Return the view of a model."""
        return cls(
            name=model.name,
            provider=model.name.partition(":")[0],
            is_default=model.is_default,
            is_offered=model.is_offered,
            is_usable=model.is_usable,
            context_tokens=model.context_tokens,
            input_price=model.input_price,
            output_price=model.output_price,
        )


router = Router(prefix="/models", tags=["models"])


@router.get("", summary="List models")
async def list_models(
    visitor: Reading, config: ConfigDep, profile: OfProfile = None
) -> Page[KnownModelView]:
    """List the models you may choose; those named in the settings come first.

    If the settings name any, a member can choose no other.
    """
    named = profile_of(visitor, profile)
    # The price list is read from disk when it is first asked for.
    known = await asyncio.to_thread(survey_models, config, named)
    offered = [one for one in known if one.is_offered]
    shown = known if visitor.is_owner else offered or known
    return Page(items=[KnownModelView.from_model(one) for one in shown])
