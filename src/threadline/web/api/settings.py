"""Settings: read with their origins, written into the file, and taken up without a restart."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request, Response

from threadline.assembly import public_settings
from threadline.assembly.reloading import Reload, Reloading
from threadline.config.catalogue import Setting, list_settings
from threadline.config.layers import parse_file
from threadline.config.reach import require_near
from threadline.config.writing import read_text
from threadline.core.errors import ConfigError, Conflict, Invalid
from threadline.core.revision import revision_of
from threadline.web.api.asking import Administering
from threadline.web.api.deps import StoreDep
from threadline.web.api.problems import told
from threadline.web.api.revisions import IfMatch, seen_in, tell_tag
from threadline.web.api.shapes.settings import (
    ChangedSettings,
    Failure,
    SettingsChange,
    SettingShape,
    SettingsShape,
)

router = APIRouter(prefix="/settings", tags=["settings"])


async def _reloading(request: Request) -> Reloading:
    found = getattr(request.app.state, "reloading", None)
    if found is None:
        raise Conflict(
            "The settings of this server cannot be changed",
            hint="Run `threadline serve` to change settings",
        )
    return cast("Reloading", found)


ReloadingDep = Annotated[Reloading, Depends(_reloading)]
"""Who knows the settings, and changes them."""


@router.get("", responses=told(409))
async def list_all_settings(
    _: Administering, reloading: ReloadingDep, response: Response
) -> SettingsShape:
    """List every setting, its current value, where it comes from, and what it may be."""
    text = await _read(reloading)
    tell_tag(response, revision_of(text))
    return SettingsShape.from_settings(
        str(reloading.source.file), await asyncio.to_thread(_list, reloading)
    )


@router.patch("", responses=told(409, 412, 428))
async def change_settings(
    *,
    wish: SettingsChange,
    visitor: Administering,
    store: StoreDep,
    reloading: ReloadingDep,
    response: Response,
    if_match: IfMatch = None,
) -> ChangedSettings:
    """Write settings to the file and apply them at once; if one is not valid, none is changed.

    What runs programs on the machine, where its database is, and which variables and files hold
    secrets can only be changed there. A new address wants the secret of its table anew.
    """
    seen = seen_in(if_match)
    await _read(reloading)
    changes = wish.changes()
    if set(wish.set) & set(wish.unset):
        raise Invalid(
            "A setting cannot be both set and unset", id=min(set(wish.set) & set(wish.unset))
        )

    async def note() -> None:
        # Afterwards, as a file has no part in a transaction; what is found wrong was not changed.
        for key in changes:
            await store.note_audit(visitor.account.actor, "settings.changed", key)

    with _told_as_mistakes():
        # As the file says it now: somebody may have changed it by hand.
        require_near(changes, await asyncio.to_thread(reloading.source.load))
        reload = await reloading.change(changes, seen, written=note)
    tell_tag(response, revision_of(await _read(reloading)))
    return await asyncio.to_thread(_tell, reloading, reload, changes)


@router.post("/reload", responses=told(409))
async def reload_settings(
    visitor: Administering, store: StoreDep, reloading: ReloadingDep
) -> ChangedSettings:
    """Reload the file, after somebody edited it by hand, and apply it."""
    with _told_as_mistakes():
        reload = await reloading.reload()
    file = str(reloading.source.file)
    await store.note_audit(visitor.account.actor, "settings.reloaded", file)
    return await asyncio.to_thread(_tell, reloading, reload, {})


async def _read(reloading: Reloading) -> str:
    """Read the file; one that somebody broke by hand is told with its line."""
    file = reloading.source.file
    try:
        text = await asyncio.to_thread(read_text, file)
        parse_file(text, str(file))
    except ConfigError as error:
        hint = error.hint or "Mend it by hand first: nothing is written over it"
        raise Conflict(error.message, id=error.id, hint=hint) from error
    return text


@contextmanager
def _told_as_mistakes() -> Iterator[None]:
    """Tell wrong settings as a mistake of whoever sent them."""
    try:
        yield
    except ConfigError as error:
        raise Invalid(error.message, id=error.id, hint=error.hint) from error


def _list(reloading: Reloading) -> list[Setting]:
    return list(list_settings(reloading.config, public_settings(reloading.config)))


def _tell(reloading: Reloading, reload: Reload, changes: Mapping[str, object]) -> ChangedSettings:
    config = reload.config
    return ChangedSettings(
        file=str(reloading.source.file),
        items=[SettingShape.from_setting(one) for one in _list(reloading)],
        failures=[Failure(table=key, message=why) for key, why in reload.failures.items()],
        restart=list(reload.restart),
        overridden=[key for key in changes if config.is_overridden(key)],
    )
