"""`python -m bench`: measure, and write JSON, a page with tables, and plots.

With `--parts` only some of it is measured; the page shows the latest numbers of each part.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import gateway
from bench.bars import bar_table
from bench.document import write_document
from bench.parts import PARTS, Choice, Judged, run
from bench.results import read_results
from bench.sites import POSTGRES, ROOT, SQLITE

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (100, 1_000)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench; answer 1 only if a bar was missed and that was said to matter."""
    chosen = _parser().parse_args(arguments)
    choice = Choice(
        databases=chosen.databases,
        sizes=chosen.sizes or (QUICK_SIZES if chosen.quick else SIZES),
        out=chosen.out,
        quick=chosen.quick,
    )
    judged = run(choice, chosen.parts)
    docs = chosen.docs or (chosen.out if chosen.quick else ROOT / "docs")
    write(judged, chosen.out, docs)
    bars = [bar for one in judged.values() for bar in one.bars]
    print(bar_table(bars))
    print(f"\nWritten: {chosen.out}/bench.json, {docs}/benchmarks.md")
    return 1 if chosen.strict and not all(bar.ok for bar in bars) else 0


def write(judged: Mapping[str, Judged], out: Path, docs: Path) -> None:
    """Write the page and its plots, from what the parts have left."""
    from bench.plots import draw

    docs.mkdir(parents=True, exist_ok=True)
    results = read_results(out)
    drawn = draw(results, docs / "images")
    images = [(caption, os.path.relpath(path, docs)) for caption, path in drawn]
    page = write_document(results, judged, images, gateway.read_served(out))
    (docs / "benchmarks.md").write_text(page, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--parts", type=_parts, default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--sizes", type=_numbers, help="numbers of sessions: 1000,10000,100000")
    parser.add_argument("--databases", type=_names, default=[SQLITE, POSTGRES])
    parser.add_argument("--quick", action="store_true", help="small stores, a few minutes")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("--docs", type=Path, help="where the page goes; docs/ unless quick")
    parser.add_argument("--strict", action="store_true", help="fail if a bar is missed")
    return parser


def _numbers(text: str) -> list[int]:
    sizes = [int(number) for number in text.split(",")]
    if min(sizes) < 2:
        raise argparse.ArgumentTypeError("a store needs at least 2 sessions")
    return sizes


def _names(text: str) -> list[str]:
    return _known(text, [SQLITE, POSTGRES])


def _parts(text: str) -> list[str]:
    return _known(text, list(PARTS))


def _known(text: str, known: Sequence[str]) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(known):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return names


if __name__ == "__main__":
    sys.exit(main())
