"""The web app in a real browser: how soon it answers a hand, and what a long stream leaves behind.

`python -m bench.browser` measures with 100,000 conversations and five minutes of streaming.
"""

import json
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from playwright.sync_api import Page, expect

from bench.bars import Bar, bar_table
from bench.sites import ROOT, SQLITE, temporary_folder
from tests.browser.app_server import SETTINGS, Place
from tests.browser.chromium import open_chromium
from tests.browser.many_sessions import long_session, make_crowd
from tests.browser.screen import Screen

PAINT_MS = 100.0
STREAM_MB = 20.0
PAUSE_MS = 50
PATIENCE_MS = 60_000
_WATCH = """() => {
  window.paints = [];
  new PerformanceObserver((list) => {
    const felt = list.getEntries().filter((entry) => entry.interactionId);
    window.paints.push(...felt.map((entry) => entry.duration));
  }).observe({ type: "event", durationThreshold: 16, buffered: false });
}"""
_QUIET = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much is measured."""

    sessions: int = 100_000
    rounds: int = 10
    lines: int = 6_000
    """Of the stream, 20 in a second."""


QUICK = Load(sessions=1_000, rounds=2, lines=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Felt:
    """What a hand and a memory felt."""

    sessions: int
    interactions: int
    paint_ms: float
    """From an interaction to the next paint, the slowest of all."""
    opened_ms: float
    """Until the last of as many messages was seen."""
    streamed_seconds: float
    stream_mb: float
    """What is alive after the stream, more than the text that it brought."""


def measure(folder: Path, load: Load) -> Felt:
    """Use the app with a crowd of conversations, and let one of them speak for long."""
    crowd = make_crowd(folder / "crowd", load.sessions)
    settings = f'database = "{crowd}"\n{SETTINGS}'
    with open_chromium() as chromium, Place(folder, chromium, settings) as place:
        place.start()
        with place.screen() as screen:
            opened = _open_long(screen, long_session(crowd, load.sessions), load.sessions)
            paints = _touch(screen, load.rounds)
            seconds, grown = _stream(screen, load.lines)
    return Felt(
        sessions=load.sessions,
        interactions=len(paints),
        paint_ms=max(paints, default=0.0),
        opened_ms=opened,
        streamed_seconds=seconds,
        stream_mb=grown,
    )


def _open_long(screen: Screen, session: str, messages: int) -> float:
    begin = time.monotonic()
    page = screen.go(f"/c/{session}")
    expect(page.get_by_role("button", name=f"line {messages}: copy link")).to_be_in_viewport(
        timeout=PATIENCE_MS
    )
    return (time.monotonic() - begin) * 1000


def _touch(screen: Screen, rounds: int) -> Sequence[float]:
    """Open conversations, type, search and walk; answer how long each interaction took."""
    page = screen.go("/")
    rows = screen.sidebar.get_by_role("listitem").get_by_role("link")
    expect(rows.first).to_be_visible()
    page.evaluate(_WATCH)
    for number in range(rounds):
        rows.nth(number % 5).click()
        page.wait_for_url(re.compile("/c/"))
        screen.composer.press_sequentially("Hello")
        screen.composer.fill("")
        page.get_by_role("textbox", name="Search").press_sequentially("ferry")
        page.get_by_role("textbox", name="Search").press("Escape")
        rows.first.focus()
        for _ in range(5):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Control+k")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
    page.evaluate(_QUIET)
    paints: list[float] = page.evaluate("window.paints")
    return paints


def _stream(screen: Screen, lines: int) -> tuple[float, float]:
    screen.begin("tell a word")
    page = screen.page
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    before, begin = heap(page), time.monotonic()
    screen.say(f"pour {lines} {PAUSE_MS}")
    screen.sees("Line 0 of")
    # Its last line may be seen only for a moment: a very long text is folded when it is whole.
    over = page.get_by_role("button", name="Stop")
    expect(over).to_have_count(0, timeout=lines * PAUSE_MS * 3 + PATIENCE_MS)
    return time.monotonic() - begin, (heap(page) - before) / 1_000_000


def heap(page: Page) -> int:
    """Tell how many bytes of script are alive."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.enable")
    devtools.send("HeapProfiler.collectGarbage")
    used = int(devtools.send("Runtime.getHeapUsage")["usedSize"])
    devtools.detach()
    return used


def judge(felt: Felt) -> list[Bar]:
    """Hold what was felt against the bars."""
    where = f"{felt.sessions:,} sessions, {felt.interactions} interactions"
    return [
        Bar(
            bar="the web app: from an interaction to the next paint",
            database=SQLITE,
            wanted=f"≤ {PAINT_MS:.0f} ms",
            measured=f"{felt.paint_ms:.0f} ms",
            where=where,
            ok=felt.paint_ms <= PAINT_MS,
        ),
        Bar(
            bar="the web app: memory after a long stream, more than before",
            database=SQLITE,
            wanted=f"≤ {STREAM_MB:.0f} MB",
            measured=f"{felt.stream_mb:.1f} MB",
            where=f"{felt.streamed_seconds:.0f} s of streaming",
            ok=felt.stream_mb <= STREAM_MB,
        ),
    ]


def run(out: Path, load: Load | None = None, *, quick: bool = False) -> list[Bar]:
    """Measure, write what was found, and answer the bars."""
    with temporary_folder() as folder:
        felt = measure(folder, load or (QUICK if quick else Load()))
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(felt), indent=1)
    (out / "browser.json").write_text(f"{text}\n", encoding="utf-8")
    return judge(felt)


if __name__ == "__main__":
    print(bar_table(run(ROOT / "bench" / "results", quick="--quick" in sys.argv)))
