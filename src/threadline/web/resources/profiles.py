"""Profiles: what conversations, jobs and access are kept apart by."""

from typing import Annotated

from fastapi import Query

from threadline.core.route import MAIN_PROFILE
from threadline.web.bodies import View
from threadline.web.resources.auth_deps import Reading
from threadline.web.resources.deps import ConfigDep, StoreDep
from threadline.web.resources.pagination import Page
from threadline.web.resources.router import Router


class ProfileView(View, frozen=True, kw_only=True):
    """What conversations are kept apart by."""

    name: str
    is_main: bool


router = Router(prefix="/profiles", tags=["profiles"])

OfProfile = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=100,
        description="The profile; your own where none is named.",
        examples=[MAIN_PROFILE],
    ),
]
"""Which profile a request is about; `profile_of` tells it."""


@router.get("")
async def list_profiles(visitor: Reading, store: StoreDep, config: ConfigDep) -> Page[ProfileView]:
    """List the profiles: those that the settings name, and those in which somebody spoke.

    A member sees only their own; one who belongs to all of them sees those in the settings.
    """
    named = config.known_profiles
    used = await store.profiles() if visitor.is_owner else []
    known = sorted({*named, *used, *filter(None, [visitor.account.profile])})
    return Page(
        items=[
            ProfileView(name=name, is_main=name == MAIN_PROFILE)
            for name in known
            if visitor.knows(name)
        ]
    )
