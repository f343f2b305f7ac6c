"""Checks: whether what the settings name is there, and answers."""

from typing import Annotated

from msgspec import Meta

from threadline.assembly.checks import Probe, probe_all
from threadline.web.bodies import Body
from threadline.web.resources.auth_deps import Administering
from threadline.web.resources.deps import ConfigDep
from threadline.web.resources.pagination import Page
from threadline.web.resources.router import Router

_NAMES = ["model openai:gpt-5.1", "platform telegram"]


class ProbeRequest(Body, frozen=True, kw_only=True):
    """What is to be called."""

    names: Annotated[tuple[str, ...], Meta(max_length=50, examples=[_NAMES])] = ()
    """A model, mcp, agent or platform, and its name in the settings; none: all."""


router = Router(prefix="/probes", tags=["settings"])


@router.post("")
async def probe_settings(wish: ProbeRequest, _: Administering, config: ConfigDep) -> Page[Probe]:
    """Call what the settings name, and tell what responds: a model is asked for one word.

    Nothing else is called, whichever names you give.
    """
    only = frozenset(wish.names) or None
    return Page(items=[one async for one in probe_all(config, only=only)])
