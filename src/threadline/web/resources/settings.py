"""Settings: read with their origins, written into the file, and taken up without a restart."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, cast

import msgspec
from fastapi import Depends, Request, Response
from msgspec import Meta

from threadline.assembly import public_settings
from threadline.assembly.reload import Reload, Reloader
from threadline.config.remote_policy import require_near
from threadline.config.setting_list import SettingKind, SettingOrigin, list_settings
from threadline.config.sources import parse_file, read_text
from threadline.config.toml_edit import KEY_LIMIT, MOST_CHANGES
from threadline.core.errors import ConfigError, Conflict, Invalid
from threadline.core.revision import revision_of
from threadline.web.bodies import Body, View
from threadline.web.resources.auth_deps import Administering
from threadline.web.resources.deps import StoreDep
from threadline.web.resources.etags import IfMatch, seen_in, tell_tag
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router


class SettingView(View, frozen=True, kw_only=True):
    """One setting. Of a secret only its presence is shown."""

    key: Annotated[str, Meta(examples=["spend.day"])]
    kind: SettingKind
    value: Any
    """A secret reads ••••••, unless it says where it stands."""
    default: Any
    origin: SettingOrigin
    place: str | None
    """The file, variable or option from which it came."""
    overridden: bool
    """An option, a variable or the project's file sets it, and wins over the file."""
    help: str | None
    """What it does; null: only its platform knows."""
    description: str | None
    """What it must be."""
    choices: list[str]
    """The words that it may be; none: others too."""
    secret: bool
    remote: bool
    """It can be changed here, and not only at the machine itself."""
    restart: bool
    """A change takes effect only after a restart."""


class SettingsView(View, frozen=True, kw_only=True):
    """All settings by which this server goes."""

    file: str
    """Where changes are written."""
    items: list[SettingView]


class FailureView(View, frozen=True, kw_only=True):
    """Something that could not be made of the settings: there everything is as it was."""

    table: Annotated[str, Meta(examples=["platforms.telegram"])]
    message: str


class ChangedSettingsView(SettingsView, frozen=True, kw_only=True):
    """All settings after a change, and what does not hold yet."""

    failures: list[FailureView]
    restart: list[str]
    """Settings that take effect only after a restart."""
    overridden: list[str]
    """Changed settings that an option, a variable or the project's file overrides."""


class SettingsUpdateRequest(Body, frozen=True, kw_only=True):
    """Settings by their dotted names. A secret is kept in a file that only its owner can read."""

    set: Annotated[
        dict[str, Any],
        Meta(max_length=MOST_CHANGES, examples=[{"spend.day": 5, "agent.model": "openai:gpt-5.1"}]),
    ] = msgspec.field(default_factory=dict)
    unset: Annotated[
        tuple[str, ...], Meta(max_length=MOST_CHANGES, examples=[["spend.month"]])
    ] = ()

    def changes(self) -> Mapping[str, object]:
        """Put both into one: what is taken out is None."""
        return {**self.set, **{key[: KEY_LIMIT + 1]: None for key in self.unset}}


router = Router(prefix="/settings", tags=["settings"])


async def _reloading(request: Request) -> Reloader:
    found = getattr(request.app.state, "reloading", None)
    if found is None:
        raise Conflict(
            "The settings of this server cannot be changed",
            hint="Run `threadline serve` to change settings",
        )
    return cast("Reloader", found)


ReloadingDep = Annotated[Reloader, Depends(_reloading)]
"""Who knows the settings, and changes them."""


@router.get("", responses=problem_responses(409))
async def list_all_settings(
    _: Administering, reloading: ReloadingDep, response: Response
) -> SettingsView:
    """List every setting, its current value, where it comes from, and what it may be."""
    text = await _read(reloading)
    tell_tag(response, revision_of(text))
    return SettingsView(
        file=str(reloading.source.file), items=await asyncio.to_thread(_list, reloading)
    )


@router.patch("", responses=problem_responses(409, 412, 428))
async def change_settings(
    *,
    wish: SettingsUpdateRequest,
    visitor: Administering,
    store: StoreDep,
    reloading: ReloadingDep,
    response: Response,
    if_match: IfMatch = None,
) -> ChangedSettingsView:
    """Write settings to the file and apply them at once; if one is not valid, none is changed.

    What runs programs on the machine, where its database is, where the server listens and whom it
    trusts, and which variables and files hold secrets can only be changed there. A new address
    wants the secret of its table anew.
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
            await store.note_audit(visitor.actor, "settings.changed", key)

    with _told_as_mistakes():
        # As the file says it now: somebody may have changed it by hand.
        require_near(changes, await asyncio.to_thread(reloading.source.load))
        await store.check_access()
        reload = await reloading.change(changes, seen, written=note)
    tell_tag(response, revision_of(await _read(reloading)))
    return await asyncio.to_thread(_tell, reloading, reload, changes)


@router.post("/reload", responses=problem_responses(409))
async def reload_settings(
    visitor: Administering, store: StoreDep, reloading: ReloadingDep
) -> ChangedSettingsView:
    """Reload the file, after somebody edited it by hand, and apply it."""
    await store.check_access()
    with _told_as_mistakes():
        reload = await reloading.reload()
    file = str(reloading.source.file)
    await store.note_audit(visitor.actor, "settings.reloaded", file)
    return await asyncio.to_thread(_tell, reloading, reload, {})


async def _read(reloading: Reloader) -> str:
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


def _list(reloading: Reloader) -> list[SettingView]:
    found = list_settings(reloading.config, public_settings(reloading.config))
    return [SettingView.of(one) for one in found]


def _tell(
    reloading: Reloader, reload: Reload, changes: Mapping[str, object]
) -> ChangedSettingsView:
    config = reload.config
    return ChangedSettingsView(
        file=str(reloading.source.file),
        items=_list(reloading),
        failures=[FailureView(table=key, message=why) for key, why in reload.failures.items()],
        restart=list(reload.restart),
        overridden=[key for key in changes if config.is_overridden(key)],
    )
