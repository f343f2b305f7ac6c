"""Models: those that a conversation may use, and what is known of them without asking anybody."""

import asyncio

from fastapi import APIRouter

from threadline.assembly.models import survey_models
from threadline.web.api.asking import Reading
from threadline.web.api.deps import ConfigDep
from threadline.web.api.looking import profile_of
from threadline.web.api.paging import Page
from threadline.web.api.profiles import OfProfile
from threadline.web.api.shapes.models import ModelShape

router = APIRouter(prefix="/models", tags=["models"])


@router.get("", summary="List models")
async def list_models(
    visitor: Reading, config: ConfigDep, profile: OfProfile = None
) -> Page[ModelShape]:
    """List the models you may choose; those named in the settings come first.

    If the settings name any, a member can choose no other.
    """
    named = profile_of(visitor, profile)
    # The price list is read from disk when it is first asked for.
    known = await asyncio.to_thread(survey_models, config, named)
    offered = [one for one in known if one.is_offered]
    shown = known if visitor.is_owner else offered or known
    return Page(items=[ModelShape.from_model(one) for one in shown])
