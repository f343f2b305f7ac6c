"""The examination that the doctor makes."""

import os
import platform
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from threadline.assembly import name_agent, refuse_lost
from threadline.assembly.checks import probe_all
from threadline.cli.store_opener import HOW_IT_COMES, Opened, exists, open_store
from threadline.config import DEFAULT, Config, load_config
from threadline.core.errors import ConfigError, ThreadlineError
from threadline.core.gateway_status import GatewayRow, PlatformState
from threadline.core.turn import is_over
from threadline.database.port import Finding
from threadline.store.formatting import ago, count
from threadline.store.gateways import list_live_gateways
from threadline.store.integrity import check_laws, check_leavings
from threadline.store.search.check import check_index
from threadline.store.stats import (
    Diagnosis,
    Overdue,
    WorkKind,
    count_failed_hooks,
    diagnose,
    list_overdue,
)

LITTLE_SPACE = 200 * 2**20
NO_SPACE = 10 * 2**20
_LATELY = timedelta(days=1)
_OTHERS_READ = stat.S_IRGRP | stat.S_IROTH
_VERDICTS = {
    "well": "All is well.",
    "degraded": "Degraded: it works, but not as well as it could; see the notes.",
    "unseen": "There was nothing to examine.",
    "broken": "Something is gravely wrong: Threadline cannot be trusted to work like this.",
}


@dataclass(slots=True, kw_only=True)
class CheckReport:
    """What was seen, and what is not as it should be."""

    facts: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    is_seen: bool = False
    """Whether there was a store that could be looked at."""

    @property
    def state(self) -> str:
        """How things are, in one word."""
        if not self.is_well:
            return "broken"
        if not self.is_seen:
            return "unseen"
        return "degraded" if self.findings else "well"

    @property
    def is_well(self) -> bool:
        """Whether nothing grave was found."""
        return not any(finding.grave for finding in self.findings)

    def note(self, what: str, *, grave: bool = False) -> None:
        """Write down a finding."""
        self.findings.append(Finding(what=what, grave=grave))

    def as_dict(self) -> dict[str, object]:
        """Give plain values, fit for JSON."""
        return {
            "ok": self.is_well,
            "state": self.state,
            "facts": self.facts,
            "settings": self.settings,
            "findings": [{"what": one.what, "grave": one.grave} for one in self.findings],
        }


async def run_checks(
    options: Mapping[str, str | None], *, deep: bool, offline: bool = True
) -> CheckReport:
    """Look at everything; what cannot be looked at is a finding, too."""
    found = CheckReport()
    found.facts["threadline"] = version("threadline")
    found.facts["python"] = platform.python_version()
    try:
        config = load_config(options)
    except ConfigError as error:
        found.note(str(error), grave=True)
        return found
    found.facts["database"] = config.shown_database
    found.facts["agent"] = name_agent(config)
    found.settings |= _changed(config)
    if not config.is_server:
        _look_at_disk(found, config.path)
    try:
        if exists(config):
            async with open_store(config) as opened:
                await _look_at_store(found, opened, deep=deep)
        else:
            _miss_store(found, config)
    except ThreadlineError as error:
        found.note(f"The store cannot be used. {error}", grave=True)
    if not offline:
        await _look_around(found, config)
    return found


def render_checks(found: CheckReport) -> str:
    """Write down an examination for a person."""
    facts = found.facts | {f"set {key}": value for key, value in found.settings.items()}
    width = max(len(name) for name in facts)
    lines = [f"{name:<{width}}  {value}" for name, value in facts.items()]
    lines.append("")
    lines += [f"{'GRAVE' if one.grave else 'note '}  {one.what}" for one in found.findings]
    return "\n".join([*lines, _VERDICTS[found.state]])


def _miss_store(found: CheckReport, config: Config) -> None:
    """Report what is missing. A database is made on first use, a folder that was named is not."""
    refuse_lost(config.path)
    if config.path.parent.is_dir() or config.path.parent == config.folder:
        found.note(f"There is no database yet; {HOW_IT_COMES}.")
    else:
        found.note(f"There is no database, and no folder {config.path.parent}.", grave=True)


def _changed(config: Config) -> dict[str, str]:
    """List the settings that somebody set, and where; the database is shown without password."""
    return {
        key: f"{config.shown_database if key == 'database' else value}  ({origin})"
        for key, value, origin in config.settings()
        if origin != DEFAULT
    }


async def _look_around(found: CheckReport, config: Config) -> None:
    """Look whether what the settings name answers; what does not costs no conversation."""
    async for probe in probe_all(config):
        if probe.is_well:
            found.facts[probe.name] = probe.told
        else:
            found.note(f"{probe.name[:1].upper()}{probe.name[1:]}: {probe.told}")


def _look_at_disk(found: CheckReport, path: Path) -> None:
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError as error:
        if path.exists():
            found.note(f"The disk cannot be looked at: {error.strerror}.")
        return
    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*") if file.is_file())
    found.facts["disk"] = f"{_size(size)} used by the database, {_size(free)} free"
    if free < LITTLE_SPACE:
        found.note(f"Only {_size(free)} are free on the disk.", grave=free < NO_SPACE)
    if path.exists() and not os.access(path, os.W_OK):
        found.note("The database may not be written: nothing new can be kept.", grave=True)
    if path.exists() and (mode := stat.S_IMODE(path.stat().st_mode)) & _OTHERS_READ:
        found.note(f"Other users can read the database (mode {mode:04o}); chmod 600 ends that.")


async def _look_at_store(found: CheckReport, opened: Opened, *, deep: bool) -> None:
    found.is_seen = True
    damage = await opened.store.check(deep=deep)
    if deep and not damage:
        # Where pages are damaged, rows cannot be trusted to tell anything.
        damage = await opened.database.read(check_laws) + await opened.database.read(check_index)
    found.findings += damage
    found.findings += await opened.database.read(check_leavings)
    depth = "every page, index and law" if deep else "quickly; --deep reads everything"
    found.facts["integrity"] = f"{'damaged' if damage else 'good'} (looked at {depth})"
    diagnosis = await opened.database.read(diagnose)
    found.facts["engine"] = diagnosis.engine
    found.facts["schema"] = str(diagnosis.schema)
    found.facts["sessions"] = f"{diagnosis.sessions:,}, {diagnosis.open_sessions:,} of them open"
    _tell_work(found, opened, diagnosis)
    await _look_at_leases(found, opened, diagnosis)
    await _look_at_overdue(found, opened)


async def _look_at_overdue(found: CheckReport, opened: Opened) -> None:
    """Note overdue work; it is grave where a gateway serves that could do it."""
    store = opened.store
    now, gateways = store.now(), await list_live_gateways(store.database)
    for work in await store.database.read(list_overdue):
        what = f"{overdue_words(work)}, the oldest since {ago(work.since, now)}."
        served = [one for one in gateways if _may_do(one, work.platform)]
        if served:
            found.note(f"{what} A gateway serves and does not do it; see its log.", grave=True)
        elif gateways:
            found.note(f"{what} {work.platform} is not up: `threadline status` shows why.")
        else:
            found.note(f"{what} No gateway serves; `threadline serve` starts one.")
    if failed := await opened.database.read(count_failed_hooks, now - _LATELY):
        found.note(f"{count(failed, 'hook call')} failed permanently in the last day; see the log.")


def _may_do(gateway: GatewayRow, platform: str | None) -> bool:
    health = gateway.platforms.get(platform or "")
    return platform is None or (health is not None and health.state is PlatformState.UP)


def overdue_words(work: Overdue) -> str:
    """Say how much of what is overdue: `3 replies on telegram are overdue`."""
    noun = "reply" if work.kind is WorkKind.DELIVERY else work.kind.value
    nouns = noun if work.number == 1 else "replies" if noun == "reply" else f"{noun}s"
    place = f" on {work.platform}" if work.platform else ""
    return f"{work.number:,} {nouns}{place} {'is' if work.number == 1 else 'are'} overdue"


def _tell_work(found: CheckReport, opened: Opened, diagnosis: Diagnosis) -> None:
    now = opened.store.now()
    for what, tallies in (("turns", diagnosis.turns), ("deliveries", diagnosis.deliveries)):
        words = [
            f"{tally.number:,} {state}, the oldest {ago(tally.oldest_at, now)}"
            for state, tally in tallies.items()
        ]
        found.facts[what] = "; ".join(words) or "none under way"
    if "interrupted" in diagnosis.turns:
        number = diagnosis.turns["interrupted"].number
        found.note(f"{count(number, 'turn')} cut off; the next start of a worker takes care.")


async def _look_at_leases(found: CheckReport, opened: Opened, diagnosis: Diagnosis) -> None:
    dead = await opened.database.dead(frozenset(lease.owner for lease in diagnosis.leases))
    now, rules = opened.store.now(), opened.store.rules
    found.facts["leases"] = f"{len(diagnosis.leases):,} held"
    for lease in diagnosis.leases:
        what = f"Turn {lease.turn_id} of {lease.session_id} is held by {lease.owner}"
        if lease.owner in dead:
            found.note(f"{what}, which is gone; the next start of a worker takes care.")
        elif is_over(lease.until, rules.lease, now):
            # A live process that cannot write, for example on a full disk, cannot renew it.
            found.note(
                f"{what}, which still runs but did not renew its lease in time: it may hang, or "
                "be unable to write."
            )


def _size(number: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:,.0f} {unit}"
        number /= 1000
    return f"{number:,.1f} TB"
