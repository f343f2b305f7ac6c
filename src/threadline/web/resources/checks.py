"""Checks: whether what the settings name is there, and answers."""

from fastapi import APIRouter
from pydantic import Field

from threadline.assembly.checks import Probe, probe_all
from threadline.web.bodies import RequestBody, ResponseBody
from threadline.web.resources.auth_deps import Administering
from threadline.web.resources.deps import ConfigDep
from threadline.web.resources.pagination import Page

_NAMES = ["model openai:gpt-5.1", "platform telegram"]


class ProbeRequest(RequestBody):
    """What is to be called."""

    names: list[str] = Field(
        default=[],
        max_length=50,
        examples=[_NAMES],
        description="A model, mcp, agent or platform, and its name in the settings; none: all.",
    )


class ProbeView(ResponseBody):
    """What was called, and what came of it."""

    name: str = Field(examples=_NAMES)
    told: str = Field(description="Who answered, or what went wrong.")
    is_well: bool

    @classmethod
    def from_probe(cls, probe: Probe) -> "ProbeView":
        """Tell what came of it."""
        return cls(name=probe.name, told=probe.told, is_well=probe.is_well)


router = APIRouter(prefix="/probes", tags=["settings"])


@router.post("")
async def probe_settings(
    wish: ProbeRequest, _: Administering, config: ConfigDep
) -> Page[ProbeView]:
    """Call what the settings name, and tell what responds: a model is asked for one word.

    Nothing else is called, whichever names you give.
    """
    only = frozenset(wish.names) or None
    return Page(items=[ProbeView.from_probe(one) async for one in probe_all(config, only=only)])
