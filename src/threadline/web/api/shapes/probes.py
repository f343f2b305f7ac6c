"""Probes, as the API tells of them."""

from pydantic import Field

from threadline.assembly.probes import Probe
from threadline.web.api.shapes.model import Answer, Wish

_NAMES = ["model openai:gpt-5.1", "platform telegram"]


class ProbeWish(Wish):
    """What is to be called."""

    names: list[str] = Field(
        default=[],
        max_length=50,
        examples=[_NAMES],
        description="A model, mcp, agent or platform, and its name in the settings; none: all.",
    )


class ProbeShape(Answer):
    """What was called, and what came of it."""

    name: str = Field(examples=_NAMES)
    told: str = Field(description="Who answered, or what went wrong.")
    is_well: bool

    @classmethod
    def from_probe(cls, probe: Probe) -> "ProbeShape":
        """Tell what came of it."""
        return cls(name=probe.name, told=probe.told, is_well=probe.is_well)
