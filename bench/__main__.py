"""`python -m bench`: measure, and write JSON, a page with tables, and plots."""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench import gateway
from bench.bars import Bar, bar_table, judge
from bench.document import write_document
from bench.gateway import Served
from bench.results import Results, gather
from bench.rounds import QUICK, Pace, measure
from bench.sites import POSTGRES, ROOT, SQLITE

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (100, 1_000)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench; answer 1 only if a bar was missed and that was said to matter."""
    chosen = _parser().parse_args(arguments)
    sizes = chosen.sizes or (QUICK_SIZES if chosen.quick else SIZES)
    begin = time.monotonic()
    pace = QUICK if chosen.quick else Pace()
    findings = measure(chosen.databases, sorted(sizes), pace)
    results = gather(findings, time.monotonic() - begin, pace.long_messages)
    served = _serve(chosen)
    bars = [*judge(results), *_search(chosen), *_shape(chosen), *_model(chosen)]
    bars += _follow(chosen)
    bars += _ask(chosen)
    bars += _look(chosen)
    bars += [bar for one in served for bar in gateway.judge(one)]
    docs = chosen.docs or (chosen.out if chosen.quick else ROOT / "docs")
    write(results, bars, chosen.out, docs, served)
    print(bar_table(bars))
    print(f"\n{results.seconds:.0f} s; written: {chosen.out}/bench.json, {docs}/benchmarks.md")
    return 1 if chosen.strict and not all(bar.ok for bar in bars) else 0


def _search(chosen: argparse.Namespace) -> list[Bar]:
    """Measure the search too, unless it was left out."""
    from bench.search import MESSAGES, QUICK_MESSAGES, run

    messages = chosen.search
    if messages is None:
        messages = QUICK_MESSAGES if chosen.quick else MESSAGES
    return run(messages, chosen.out) if messages and SQLITE in chosen.databases else []


def _shape(chosen: argparse.Namespace) -> list[Bar]:
    """Measure branching and undoing too, on the databases that were chosen."""
    from bench.shaping import run

    return run(chosen.out, chosen.databases, quick=chosen.quick)


def _model(chosen: argparse.Namespace) -> list[Bar]:
    """Measure turns with a model too, if SQLite was chosen."""
    from bench.model import run

    return run(chosen.out, quick=chosen.quick) if SQLITE in chosen.databases else []


def _ask(chosen: argparse.Namespace) -> list[Bar]:
    """Measure pages of the API too, on the databases that were chosen."""
    from bench.api import QUICK, Load, run

    return run(chosen.out, chosen.databases, QUICK if chosen.quick else Load())


def _follow(chosen: argparse.Namespace) -> list[Bar]:
    """Measure those who follow over HTTP too, if SQLite was chosen."""
    from bench.feed import run

    return run(chosen.out, quick=chosen.quick) if SQLITE in chosen.databases else []


def _look(chosen: argparse.Namespace) -> list[Bar]:
    """Measure the web app in a browser too, if SQLite was chosen."""
    from bench.browser import run

    return run(chosen.out, quick=chosen.quick) if SQLITE in chosen.databases else []


def _serve(chosen: argparse.Namespace) -> list[Served]:
    """Measure the whole gateway too, on the databases that were chosen."""
    load = gateway.QUICK if chosen.quick else gateway.Load()
    return gateway.run(chosen.out, chosen.databases, load=load)


def write(
    results: Results, bars: Sequence[Bar], out: Path, docs: Path, served: Sequence[Served] = ()
) -> None:
    """Write everything that a run leaves behind."""
    from bench.plots import draw

    out.mkdir(parents=True, exist_ok=True)
    docs.mkdir(parents=True, exist_ok=True)
    found = {**results.as_dict(), "bars": [asdict(bar) for bar in bars]}
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (out / "bench.json").write_text(text + "\n", encoding="utf-8")
    drawn = draw(results, docs / "images")
    images = [(caption, os.path.relpath(path, docs)) for caption, path in drawn]
    page = write_document(results, bars, images, served)
    (docs / "benchmarks.md").write_text(page, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--sizes", type=_numbers, help="numbers of sessions: 1000,10000,100000")
    parser.add_argument("--databases", type=_names, default=[SQLITE, POSTGRES])
    parser.add_argument("--quick", action="store_true", help="small stores, less than a minute")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("--docs", type=Path, help="where the page goes; docs/ unless quick")
    parser.add_argument("--search", type=int, help="messages that are searched; 0: none")
    parser.add_argument("--strict", action="store_true", help="fail if a bar is missed")
    return parser


def _numbers(text: str) -> list[int]:
    sizes = [int(number) for number in text.split(",")]
    if min(sizes) < 2:
        raise argparse.ArgumentTypeError("a store needs at least 2 sessions")
    return sizes


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - {SQLITE, POSTGRES}:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return names


if __name__ == "__main__":
    sys.exit(main())
