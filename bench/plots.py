"""Plots: how each operation goes with the number of sessions."""

from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from bench.results import TITLES, Results

_OURS, _FLOOR = "#1f6feb", "#8c959f"
_NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


def draw(results: Results, folder: Path) -> list[tuple[str, Path]]:
    """Draw the plots of a run; answer their captions and files."""
    mpl.use("svg")
    folder.mkdir(parents=True, exist_ok=True)
    # Text stays text, so that the files are small; and the same numbers give the same file.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "threadline", "font.size": 9})
    drawn = []
    for database in results.databases:
        name = _NAMES[database]
        times = folder / f"bench-{database}-times.svg"
        _draw_times(results, database, times)
        drawn.append((f"{name}: time of each operation by number of sessions", times))
        rates = folder / f"bench-{database}-turns.svg"
        _draw_rates(results, database, rates)
        drawn.append((f"{name}: turns in a second by number of sessions", rates))
    return drawn


def _draw_times(results: Results, database: str, path: Path) -> None:
    figure, grid = plt.subplots(2, 4, figsize=(11, 5), layout="constrained")
    for place, (name, title) in zip(grid.flat, TITLES.items(), strict=True):
        found = [results.find(database, size, name) for size in results.sizes]
        place.set_title(title, fontsize=9)
        _line(place, results, [one.ours.p50 for one in found], (_OURS, "-"), "p50")
        _line(place, results, [one.ours.p99 for one in found], (_OURS, ":"), "p99")
        floors = [one.floor.p50 for one in found if one.floor is not None]
        if floors:
            _line(place, results, floors, (_FLOOR, "-"), "floor p50")
        place.set_ylim(bottom=0)
        place.set_ylabel("ms")
    grid.flat[0].legend(frameon=False)
    figure.suptitle(_NAMES[database])
    _save(path)


def _draw_rates(results: Results, database: str, path: Path) -> None:
    _, place = plt.subplots(figsize=(6, 3.4), layout="constrained")
    turns = [results.find(database, size, "turn") for size in results.sizes]
    crowds = [results.find(database, size, "turn_64").ours.rate for size in results.sizes]
    _line(place, results, crowds, (_OURS, "-"), "64 callers")
    _line(place, results, [one.ours.rate for one in turns], (_OURS, ":"), "one caller")
    floors = [one.floor.rate for one in turns if one.floor is not None]
    _line(place, results, floors, (_FLOOR, "-"), "floor, one caller")
    place.set_ylim(bottom=0)
    place.set_ylabel("turns in a second")
    place.set_title(_NAMES[database])
    place.legend(frameon=False)
    _save(path)


def _line(
    place: Axes, results: Results, numbers: list[float], look: tuple[str, str], label: str
) -> None:
    place.plot(results.sizes, numbers, look[1], color=look[0], marker=".", label=label)
    place.set_xscale("log")
    place.set_xticks(results.sizes, [_short(size) for size in results.sizes])
    place.minorticks_off()
    for side in ("top", "right"):
        place.spines[side].set_visible(False)


def _short(size: int) -> str:
    return f"{size // 1000}k" if size % 1000 == 0 else str(size)


def _save(path: Path) -> None:
    plt.savefig(path, metadata={"Date": None})
    plt.close()
