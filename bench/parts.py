"""Parts: what can be measured by itself, and what the latest run of each found."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.bars import Bar, judge
from bench.results import gather, write_results
from bench.rounds import QUICK, Pace, measure
from bench.sites import SQLITE


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """On which databases something is measured, how large, and where the numbers go."""

    databases: Sequence[str]
    sizes: Sequence[int]
    out: Path
    quick: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The bars of one part, and the day on which they were measured."""

    at: str
    bars: Sequence[Bar]


def run(choice: Choice, names: Sequence[str]) -> dict[str, Judged]:
    """Measure some parts, and answer the bars of all: of the others, those of their latest run."""
    judged = read_judged(choice.out)
    for name in names:
        bars = PARTS[name](choice)
        judged[name] = Judged(at=datetime.now(UTC).date().isoformat(), bars=bars)
        write_judged(judged, choice.out)
    return {name: judged[name] for name in PARTS if name in judged}


def read_judged(out: Path) -> dict[str, Judged]:
    """Read the bars of earlier runs, if there were any."""
    file = out / "bench.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {
        name: Judged(at=one["at"], bars=[Bar(**bar) for bar in one["bars"]])
        for name, one in found.items()
    }


def write_judged(judged: Mapping[str, Judged], out: Path) -> None:
    """Write the bars after each part: the next one may take long, or fail."""
    out.mkdir(parents=True, exist_ok=True)
    found = {name: asdict(one) for name, one in judged.items()}
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (out / "bench.json").write_text(text + "\n", encoding="utf-8")


def _store(choice: Choice) -> list[Bar]:
    """Measure the store itself, by verbs and reads."""
    pace, begin = QUICK if choice.quick else Pace(), time.monotonic()
    findings = measure(choice.databases, sorted(choice.sizes), pace)
    results = gather(findings, time.monotonic() - begin, pace.long_messages)
    write_results(results, choice.out)
    return judge(results)


def _search(choice: Choice) -> list[Bar]:
    from bench.search import MESSAGES, QUICK_MESSAGES, run

    messages = QUICK_MESSAGES if choice.quick else MESSAGES
    return run(messages, choice.out) if SQLITE in choice.databases else []


def _shaping(choice: Choice) -> list[Bar]:
    from bench.shaping import run

    return run(choice.out, choice.databases, quick=choice.quick)


def _model(choice: Choice) -> list[Bar]:
    from bench.model import run

    return run(choice.out, quick=choice.quick) if SQLITE in choice.databases else []


def _gateway(choice: Choice) -> list[Bar]:
    from bench import gateway

    load = gateway.QUICK if choice.quick else gateway.Load()
    served = gateway.run(choice.out, choice.databases, load=load)
    return [bar for one in served for bar in gateway.judge(one)]


def _feed(choice: Choice) -> list[Bar]:
    from bench.feed import run

    return run(choice.out, quick=choice.quick) if SQLITE in choice.databases else []


def _api(choice: Choice) -> list[Bar]:
    from bench.api import QUICK, Load, run

    return run(choice.out, choice.databases, QUICK if choice.quick else Load())


def _browser(choice: Choice) -> list[Bar]:
    from bench.browser import run

    return run(choice.out, quick=choice.quick) if SQLITE in choice.databases else []


PARTS: Mapping[str, Callable[[Choice], list[Bar]]] = {
    "store": _store,
    "search": _search,
    "shaping": _shaping,
    "model": _model,
    "gateway": _gateway,
    "feed": _feed,
    "api": _api,
    "browser": _browser,
}
"""What measures each part, in the order in which they are measured and shown."""
