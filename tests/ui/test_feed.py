"""A screen in TypeScript folds the feed as the house itself does."""

import json
import random
import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from docs.typescript import write_types
from tests.ui.compiler import UI, compile_into, run_compiled
from tests.ui.sample import make_sample
from threadline.core.event import Cursor, Event, EventKind, SessionSnapshot, fold
from threadline.core.session import SessionId
from threadline.web.feed.frames import DeltaKind, write_event
from threadline.web.feed.snapshot import SessionSnapshotView

SESSION = SessionId("20260131_184500_0a1b2c3d")
PROGRAM = """
import {{ applyEvent, createState, toSnapshot, type FeedEvent, type Snapshot }} from "./feed.ts";
const events: FeedEvent[] = {events};
const snapshot: Snapshot = {snapshot};
console.log(JSON.stringify(toSnapshot(events.reduce(applyEvent, createState()))));
console.log(JSON.stringify(toSnapshot(events.reduce(applyEvent, createState(snapshot)))));
"""


def happen(seed: int) -> list[Event]:
    """Make up a row of events: of every kind, some of them told again or too late."""
    dice = random.Random(seed)
    kinds = [*EventKind, *dice.choices([*EventKind], k=60)]
    events = [
        Event(
            cursor=Cursor(str(revision)),
            kind=kind,
            session_id=SESSION,
            revision=revision,
            subject=None if kind.noun == "session" else dice.randrange(1, 4),
            at=datetime(2026, 1, 31, tzinfo=UTC),
        )
        for revision, kind in enumerate(kinds, start=1)
    ]
    again = events + dice.sample(events, 20)
    dice.shuffle(again)
    return again


def shown(events: list[Event]) -> dict[str, object]:
    """Tell what a snapshot after these events would tell."""
    glimpse = fold({SESSION: SessionSnapshot()}, events)[SESSION]
    told: dict[str, object] = msgspec.to_builtins(SessionSnapshotView.from_glimpse(glimpse))
    return told


def test_a_screen_ends_where_the_house_does(tmp_path: Path) -> None:
    """Events in any order, some of them twice, lead from any snapshot to the same new one."""
    events = happen(seed=7)
    source = tmp_path / "source"
    source.mkdir()
    types = write_types(make_sample().openapi(), (EventKind, DeltaKind))
    (source / "schema.ts").write_text(types, encoding="utf-8")
    shutil.copy(UI / "src" / "api" / "feed.ts", source)
    told = [write_event(event).decode().partition("data: ")[2].strip() for event in events]
    snapshot = shown([event for event in events if event.revision <= 45])
    program = PROGRAM.format(events=f"[{', '.join(told)}]", snapshot=json.dumps(snapshot))
    (source / "program.ts").write_text(program, encoding="utf-8")
    wrong = compile_into(tmp_path / "built", source)
    (tmp_path / "built" / "package.json").write_text('{"type": "module"}', encoding="utf-8")

    done = run_compiled(tmp_path / "built" / "program.js")

    assert (wrong, done.stderr) == ("", "")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [shown(events)] * 2
