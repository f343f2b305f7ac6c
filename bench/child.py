"""A child process: does its share of the work and tells what it found, as one line of JSON."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import threadline
from bench.caller import Caller
from bench.floor import Floor
from bench.glance import Glance
from bench.sites import ROOT, bare_connection
from bench.timing import Sample, time_calls, time_floor

READY, GO = "ready", "go"


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a child is sent to do."""

    where: str
    size: int
    seconds: float
    is_floor: bool
    part: int = 0
    """Which of two halves of the conversations is its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """What a child came back with."""

    sample: Sample
    rss: float
    """Megabytes of memory at the end."""


def send(errands: Sequence[Errand]) -> list[Return]:
    """Let children do their errands all at the same time."""
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.child", json.dumps(asdict(errand))],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for errand in errands
    ]
    try:
        for child in children:
            if child.stdout is None or child.stdout.readline().strip() != READY:
                raise RuntimeError("A child process of the bench did not start")
        for child in children:
            if child.stdin is not None:
                child.stdin.write(GO + "\n")
                child.stdin.flush()
        answers = [child.communicate(timeout=120)[0] for child in children]
    finally:
        for child in children:
            child.kill()
            child.communicate()
    return [_read(answer) for answer in answers]


def _read(answer: str) -> Return:
    found = json.loads(answer)
    return Return(sample=Sample(**found["sample"]), rss=found["rss"])


def main(errand: Errand) -> None:
    """Do an errand."""
    sample = _by_floor(errand) if errand.is_floor else asyncio.run(_by_store(errand))
    print(json.dumps({"sample": asdict(sample), "rss": resident_megabytes()}))


def _start() -> None:
    print(READY, flush=True)
    sys.stdin.readline()


async def _by_store(errand: Errand) -> Sample:
    async with threadline.open(errand.where) as store:
        caller = Caller(store)
        await caller.find_long(errand.size)
        _start()

        async def turn(number: int) -> None:
            await caller.turn(_own(number, errand))

        sample = await time_calls(turn, errand.size, errand.seconds)
        await caller.sessions()
        await caller.transcript()
        return sample


def _by_floor(errand: Errand) -> Sample:
    bare = bare_connection(errand.where)
    floor, glance = Floor(bare), Glance(bare)
    _start()
    sample = time_floor(
        lambda number: floor.turn(_own(number, errand)), errand.size, errand.seconds
    )
    glance.sessions()
    glance.transcript(errand.size + 1)
    floor.close()
    return sample


def _own(number: int, errand: Errand) -> int:
    return min(number // 2 * 2 + errand.part, errand.size - 1)


def resident_megabytes() -> float:
    """Tell how much memory this process holds."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    import resource

    # Elsewhere the most it ever held; macOS counts bytes.
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024 / (1024 if sys.platform == "darwin" else 1)


if __name__ == "__main__":
    main(Errand(**json.loads(sys.argv[1])))
