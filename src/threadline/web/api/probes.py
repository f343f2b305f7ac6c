"""Probes: whether what the settings name is there, and answers."""

from fastapi import APIRouter

from threadline.assembly.probes import probe_all
from threadline.web.api.asking import Administering
from threadline.web.api.deps import ConfigDep
from threadline.web.api.paging import Page
from threadline.web.api.shapes.probes import ProbeShape, ProbeWish

router = APIRouter(prefix="/probes", tags=["settings"])


@router.post("")
async def probe_settings(wish: ProbeWish, _: Administering, config: ConfigDep) -> Page[ProbeShape]:
    """Call what the settings name, and tell what responds: a model is asked for one word.

    Nothing else is called, whichever names you give.
    """
    only = frozenset(wish.names) or None
    return Page(items=[ProbeShape.from_probe(one) async for one in probe_all(config, only=only)])
