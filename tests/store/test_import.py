"""Files that are damaged, cut off, made up or meant to do harm: nothing is half-written."""

import asyncio
import base64
import contextlib
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.databases import DatabaseFactory
from tests.store import transfer_setup
from tests.store.transfer_setup import chunks, export, live, tell
from threadline.core.errors import Invalid
from threadline.core.export_format import codec
from threadline.core.export_format.session_records import PortableSession
from threadline.core.session import SessionId
from threadline.database.timestamps import stamp
from threadline.store import Store
from threadline.store.transfer import staging_area
from threadline.store.transfer.importer import ImportOptions, ImportReport
from threadline.store.transfer.validation import validate_file
from threadline.testing.clock import FakeClock

Lines = list[dict[str, object]]
NO_SUCH = "20200101_000000_00000000"


@pytest.fixture(name="clock")
def a_clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(name="store")
async def a_store(database_factory: DatabaseFactory, clock: FakeClock) -> Store:
    return Store(await database_factory(clock=clock), new_id=transfer_setup.one_after_another())


async def small_file(store: Store) -> bytes:
    """Export two sessions, of which the second is a branch of the first, and forget them."""
    main = await tell(store, "one")
    await transfer_setup.answer(store)
    await store.transcripts.branch(main)
    return await export(store)


def sealed(lines: Lines) -> bytes:
    """Write lines with a footer that is right, whatever they say."""
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    footer = {
        "type": "footer",
        "lines": len(lines),
        "sessions": sum(line.get("type") == "session" for line in lines),
        "messages": sum(line.get("type") == "message" for line in lines),
        "attachments": sum(
            line.get("type") == "attachment" and line.get("n") == 0 for line in lines
        ),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return body + json.dumps(footer).encode() + b"\n"


def parsed(data: bytes) -> Lines:
    """Read a file without its footer."""
    return [json.loads(line) for line in data.splitlines()][:-1]


def first(lines: Lines, kind: str) -> dict[str, object]:
    """Find the first line of a type."""
    return next(line for line in lines if line["type"] == kind)


async def take(store: Store, data: bytes, **manner: bool) -> ImportReport:
    """Import a file."""
    return await store.transfer.import_history(chunks(data), ImportOptions(**manner))


def elsewhere(lines: Lines) -> Lines:
    """Give the sessions of a file other ids, so that the store does not have them."""
    text = json.dumps(lines)
    for line in lines:
        if line["type"] == "session":
            id = str(line["id"])
            text = text.replace(id, f"1999{id[4:]}")
    changed: Lines = json.loads(text)
    return changed


def set_in(kind: str, **fields: object) -> Callable[[Lines], None]:
    """Make a change of some fields of the first line of a type."""

    def change(lines: Lines) -> None:
        first(lines, kind).update(fields)

    return change


def add_line(line: dict[str, object], at: int = 1) -> Callable[[Lines], None]:
    """Make a change that puts a line behind the header, or elsewhere."""
    return lambda lines: lines.insert(at, line)


def lift(lines: Lines) -> None:
    """Let a cut be lifted by one that is not there."""
    cut = {"from_seq": 1, "to_seq": 1, "kind": "undone", "made_at": "2026-03-02T09:00:00.000000Z"}
    first(lines, "session")["cuts"] = [{**cut, "lifted_by": 7}]


AT = "2026-03-02T09:00:00.000000Z"
TEXT = [{"type": "text", "text": "x"}]
HARM: dict[str, tuple[Callable[[Lines], None], str]] = {
    "newer version": (set_in("header", version=2), "version 2"),
    "other format": (set_in("header", format="zip"), "no export of Threadline"),
    "second header": (add_line({"type": "header", "format": "threadline", "version": 1,
                                "selection": {"extent": "all"}}), "no other"),
    "unknown type": (add_line({"type": "virus"}), "no type of line"),
    "unknown field": (set_in("session", admin=True), "admin"),
    "path as id": (set_in("session", id="../../etc/passwd"), "session.id"),
    "own parent": (set_in("session", parent="SELF"), "does not stand before it"),
    "own base": (set_in("session", base={"session": "SELF", "seq": 1, "revision": 1}),
                 "does not stand before it"),
    "foreign base": (set_in("session", base={"session": NO_SUCH, "seq": 1, "revision": 1}),
                     "does not stand before it"),
    "cut out of range": (set_in("session", cuts=[{"from_seq": 1, "to_seq": 999, "kind": "undone",
                                                  "made_at": AT}]), "after the last line"),
    "cut backwards": (set_in("session", cuts=[{"from_seq": 2, "to_seq": 1, "kind": "undone",
                                               "made_at": AT}]), "cannot go"),
    "cut lifted by none": (lift, "not there"),
    "credentials": (set_in("session", choice={"model": "m", "base_url": "https://u:p@h/"}),
                    "more than an address"),
    "half a character": (set_in("message", parts=[{"type": "text", "text": "\ud800"}]), "JSON"),
    "nul": (set_in("message", parts=[{"type": "text", "text": "a\0b"}]), "text"),
    "no parts": (set_in("message", parts=[]), "parts"),
    "unknown role": (set_in("message", role="god"), "message.role"),
    "seq zero": (set_in("message", seq=0), "message.seq"),
    "seq too far": (set_in("message", seq=10**6), "message.seq"),
    "seq below zero": (set_in("message", seq=-1), "message.seq"),
    "seq huge": (set_in("message", seq=2**70), "message.seq"),
    "unknown sender": (set_in("message", sender={"platform": "x", "id": "y"}), "not named"),
    "unknown turn": (set_in("message", turn=9), "Turn 9"),
    "unknown blob": (set_in("message", parts=[{"type": "attachment", "kind": "image",
        "blob": "0" * 64, "media_type": "image/png", "size": 1}]), "not in the file"),
    "running turn": (set_in("turn", state="running"), "turn.state|state cannot be"),
    "turn out of order": (set_in("turn", n=2), "must be 1"),
    "local time": (set_in("turn", queued_at="2026-03-02T09:00:00"), "time zone"),
    "no such day": (set_in("turn", queued_at="2026-02-31T09:00:00.000000Z"), "datetime"),
    "number as text": (set_in("usage", input_tokens="7"), "input_tokens"),
    "true as number": (set_in("usage", input_tokens=True), "input_tokens"),
    "wrong hash": (add_line({"type": "attachment", "hash": "0" * 64, "size": 1, "n": 0,
                             "data": base64.b64encode(b"x").decode()}), "hash says"),
    "too large": (add_line({"type": "attachment", "hash": "0" * 64, "size": 10**9, "n": 0,
                            "data": ""}), "too large"),
    "piece missing": (add_line({"type": "attachment", "hash": "0" * 64, "size": 9, "n": 1,
                                "data": ""}), "in order"),
    "line of nobody": (lambda lines: lines.insert(1, {"type": "message", "role": "user",
                       "parts": TEXT, "at": AT}), "none stands before it"),
    "wrong order": (add_line({"type": "sender", "platform": "x", "id": "y",
                              "first_seen_at": AT}, at=99), "in this order"),
    "owner not named": (set_in("session", owner={"platform": "x", "id": "y"}), "not named"),
}  # fmt: skip


@pytest.mark.parametrize("name", HARM)
async def test_harm_is_refused(store: Store, name: str) -> None:
    """The error names the line and what is wrong; nothing of the session is stored."""
    change, wish = HARM[name]
    lines = elsewhere(parsed(await small_file(store)))
    # Only the first session, so that it is the one that is bad.
    second = [n for n, line in enumerate(lines) if line["type"] == "session"][1]
    del lines[second:]
    first(lines, "session").pop("parent", None)
    change(lines)
    text = json.dumps(lines).replace("SELF", str(first(lines, "session")["id"]))
    before = await export(store)

    with pytest.raises(Invalid, match=rf"^Line \d+: .*(?:{wish})"):
        await take(store, sealed(json.loads(text)))

    assert await export(store) == before
    assert await left_behind(store) == 0


async def test_a_session_stands_in_a_file_once(store: Store) -> None:
    """The first one comes in; the second one with the same id is an error, and is not."""
    lines = elsewhere(parsed(await small_file(store)))
    again = {**first(lines, "session"), "title": "Another", "titled_by": "person"}

    with pytest.raises(Invalid, match="stands in the file twice"):
        await take(store, sealed([*lines, again]))

    assert b"Another" not in await export(store)


async def left_behind(store: Store) -> int:
    """Count the sessions that an import has begun and not ended."""
    later = store.now() + timedelta(days=2)
    staged = await store.database.read(
        lambda tx: tx.all("list_staged", before=stamp(later), most=99)
    )
    return len(staged)


RAW = {
    "no JSON": b"{\n",
    "no object": b"[1]\n",
    "an empty line": b"\n",
    "no UTF-8": b"\xff\xfe\n",
    "deep": b"[" * 200_000 + b"\n",
    "deep objects": b'{"a":' * 100_000 + b"\n",
    "a field twice": b'{"type":"footer","type":"header"}\n',
    "not a number": b'{"type":"footer","lines":NaN}\n',
    "many digits": b'{"type":"footer","lines":' + b"9" * 10_000 + b"}\n",
}


@pytest.mark.parametrize("name", RAW)
async def test_bad_lines_are_refused(store: Store, name: str) -> None:
    """A line that is no record is named by its number."""
    lines = transfer_setup.lines_of(await small_file(store))
    lines.insert(3, RAW[name])

    with pytest.raises(Invalid, match="^Line 4: "):
        await take(store, b"".join(lines))
    with pytest.raises(Invalid, match="^Line 4: "):
        await validate_file(chunks(b"".join(lines)))


async def test_an_endless_line_is_not_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line beyond the limit is refused before it is read to its end."""
    monkeypatch.setattr("threadline.store.transfer.validation.LINE_LIMIT", 5000)
    head = transfer_setup.lines_of(await small_file(store))[0]

    with pytest.raises(Invalid, match="^Line 2: The line has more than 5,000 bytes"):
        await take(store, head + b"x" * 20_000)


async def test_a_file_that_was_cut_off_is_noticed(store: Store) -> None:
    """Wherever a file is cut, the import says so, and the session at the cut is not stored."""
    lines = transfer_setup.lines_of(sealed(elsewhere(parsed(await small_file(store)))))
    there = len((await store.sessions.list()).rows)
    second = [n for n, line in enumerate(lines) if b'"type": "session"' in line][1]

    for end in range(1, second):
        with pytest.raises(Invalid, match="cut off"):
            await take(store, b"".join(lines[:end]))
        assert len((await store.sessions.list()).rows) == there
    with pytest.raises(Invalid, match="cut off|not JSON"):
        await take(store, b"".join(lines)[:-40])


async def test_a_changed_file_is_noticed(store: Store) -> None:
    """A letter that was changed makes another hash, though every line can be read."""
    data = await small_file(store)

    with pytest.raises(Invalid, match="hash differs"):
        await validate_file(chunks(data.replace(b'"one"', b'"two"')))


async def test_bad_sessions_are_skipped_if_that_is_wished(store: Store) -> None:
    """The others come in; each bad place is named once, and what stands on it is bad as well."""
    lines = elsewhere(parsed(await small_file(store)))
    first(lines, "message")["role"] = "god"
    await tell(store, "three", address=transfer_setup.BOBS, sender=transfer_setup.BOB)
    third = [line for line in parsed(await export(store)) if line["type"] != "header"]
    third = third[[n for n, line in enumerate(third) if line["type"] == "session"][2] :]
    text = json.dumps(third).replace(str(third[0]["id"]), "19990101_000000_00000009")

    report = await take(store, sealed([*lines, *json.loads(text)]), skip_bad=True)

    assert (report.added, report.bad, report.conflicts) == (1, 1, 1), report.problems
    assert (await store.sessions.get(SessionId("19990101_000000_00000009"))).title == "three"
    assert await left_behind(store) == 0


async def test_a_dry_run_changes_nothing(store: Store, clock: FakeClock) -> None:
    """It says what would come of the file."""
    lines = elsewhere(parsed(await small_file(store)))
    before = await export(store)

    report = await take(store, sealed(lines), dry_run=True)

    assert (report.added, report.skipped) == (2, 0)
    assert await export(store) == before


async def test_others_go_on_while_a_file_comes_in(store: Store, clock: FakeClock) -> None:
    """Messages arrive and are answered between the slices of an import."""
    await live(store, clock)
    data = sealed(elsewhere(parsed(await export(store))))
    running = asyncio.create_task(take(store, data))
    said = 0
    while not running.done():
        # Each in a place of its own: one conversation lets only so many messages wait.
        await tell(store, f"in between {said}", profile=f"busy{said}")
        said += not running.done()

    report = await running

    assert said
    assert report.added > 5
    assert not report.problems


async def test_a_cancelled_import_leaves_nothing_half_done(store: Store, clock: FakeClock) -> None:
    """Wherever it is cancelled, a session is there wholly or not, and a second try succeeds."""
    await live(store, clock)
    data = sealed(elsewhere(parsed(await export(store))))
    for moment in range(12):
        running = asyncio.create_task(take(store, data))
        await asyncio.sleep(0.004 * moment)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        assert await left_behind(store) == 0

    report = await take(store, data)

    assert not report.problems
    assert report.added + report.skipped == data.count(b'"type": "session"')


async def test_what_a_crash_left_behind_is_cleared_away(store: Store, clock: FakeClock) -> None:
    """A day later the next import deletes what another one had begun; it was never to be seen."""
    data = await small_file(store)
    session = codec.decode(transfer_setup.lines_of(data)[1])
    assert isinstance(session, PortableSession)
    await store.database.write(staging_area.stage, "importing-x", session.place)
    assert len((await store.sessions.list()).rows) == 2
    assert await export(store) == data
    clock.advance(timedelta(days=2))

    await take(store, data)

    assert await left_behind(store) == 0


async def test_nobody_is_given_words_that_are_not_in_the_file(store: Store) -> None:
    """A made-up branch of somebody else's session, which only the store has, is refused."""
    secret = await tell(store, "private", address=transfer_setup.BOBS, sender=transfer_setup.BOB)
    lines = elsewhere(parsed(await small_file(store)))
    first(lines, "session")["base"] = {"session": secret, "seq": 1, "revision": 1}

    with pytest.raises(Invalid, match="does not stand before it"):
        await take(store, sealed(lines))


@pytest.mark.parametrize("keep", [False, True])
async def test_a_file_gives_an_agent_no_folder_tools_or_address(store: Store, keep: bool) -> None:
    """They are left out, counted, and make no difference when the file is imported again."""
    id = await tell(store, "one")
    await transfer_setup.answer(store)
    await tell(store, "two")
    await transfer_setup.answer(store)
    lines = elsewhere(parsed(await export(store)))
    session = first(lines, "session")
    session |= {
        "workspace": "/srv/secrets",
        "tools": ["shell"],
        "choice": {"model": "gpt", "provider": "openai", "base_url": "https://evil.example/v1"},
        "worktree": {
            "path": "/srv/tree",
            "branch": "main",
            "repository": "/srv/repo",
            "at": session["opened_at"],
        },
    }
    data = sealed(lines)
    tried = await take(store, data, keep_settings=keep, dry_run=True)
    report = await take(store, data, keep_settings=keep)
    again = await take(store, data)
    there = await store.sessions.get(SessionId(str(session["id"])))

    assert there.id != id
    assert (report.added, report.without_settings) == (1, 0 if keep else 1)
    assert tried.without_settings == report.without_settings
    assert (again.added, again.skipped, again.conflicts) == (0, 1, 0)
    found = (there.workspace, there.tools, there.choice, there.worktree)
    assert (found == (None, None, None, None)) is not keep
    assert (there.workspace == "/srv/secrets") is keep


async def test_an_attachment_of_a_session_that_is_left_out_is_not_kept(
    database_factory: DatabaseFactory,
) -> None:
    """Time passes between the reading of a file and the writing of what is in it."""
    store = Store(await database_factory())
    lines = elsewhere(parsed(await small_file(store)))
    file = {"hash": hashlib.sha256(b"x").hexdigest(), "size": 1}
    add_line({"type": "attachment", **file, "n": 0, "data": base64.b64encode(b"x").decode()})(lines)
    set_in("message", role="god")(lines)

    report = await take(store, sealed(lines), skip_bad=True)

    assert report.bad
    assert database_factory.tamper("SELECT hash FROM blobs") == []
