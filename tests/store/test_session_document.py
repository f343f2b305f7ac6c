"""A session as a page: its shared beginning, dividers, what was hidden, and nobody's secrets."""

import json

import pytest

from tests.databases import DatabaseFactory
from tests.store import transfer_setup
from tests.store.transfer_setup import chunks, export, live, tell
from threadline.core.errors import Invalid, NotFound
from threadline.core.export_format.file_records import ExportFormat
from threadline.core.message import MediaKind, Role, Text, say
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.testing.clock import FakeClock

PAGES = (ExportFormat.MARKDOWN, ExportFormat.HTML)


@pytest.fixture(name="clock")
def a_clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(name="store")
async def a_store(database_factory: DatabaseFactory, clock: FakeClock) -> Store:
    return Store(await database_factory(clock=clock), new_id=transfer_setup.one_after_another())


async def page(
    store: Store,
    id: SessionId,
    format: ExportFormat = ExportFormat.MARKDOWN,
    *,
    hidden: bool = False,
    redact: bool = False,
) -> str:
    """Write a page as one piece."""
    pieces = store.transfer.export_page(id, format, hidden=hidden, redact=redact)
    return "".join([piece async for piece in pieces])


async def test_a_branch_shows_what_it_shares(store: Store) -> None:
    """The page of a branch begins with the lines of its base, and ends with its own."""
    main = await tell(store, "shared words")
    await transfer_setup.answer(store)
    branch = await store.transcripts.branch(main)
    await tell(store, "later in the base")
    await store.transcripts.record(branch.id, [say(Role.SYSTEM, "only in the branch")])

    text = await page(store, branch.id)

    assert text.index("shared words") < text.index("only in the branch")
    assert "later in the base" not in text
    assert f"shares its first {branch.base_seq} lines with" in text


@pytest.mark.parametrize("format", PAGES)
async def test_dividers_and_hidden_lines(store: Store, format: ExportFormat) -> None:
    """A compaction is a divider with its summary; undone lines are there only when asked for."""
    main = await tell(store, "old words")
    await transfer_setup.answer(store)
    await tell(store, "kept words")
    await transfer_setup.answer(store)
    await store.transcripts.compact(main, "They talked.", keep=1)
    await tell(store, "taken back")
    await transfer_setup.answer(store)
    await store.transcripts.undo(main)

    plain, full = await page(store, main, format), await page(store, main, format, hidden=True)

    assert plain.index("old words") < plain.index("They talked.") < plain.rindex("kept words")
    assert "taken back" not in plain
    assert "taken back" in full
    assert "undone" in full


async def test_a_page_has_pictures(store: Store) -> None:
    """An image of a message stands in the HTML page, and is named in Markdown."""
    picture = await store.attachments.put(b"\x89PNG!", "image/png", MediaKind.IMAGE, "sun.png")
    id = await tell(store, "", parts=(Text(text="look"), picture))
    await transfer_setup.answer(store)

    assert 'src="data:image/png;base64,iVBORyE="' in await page(store, id, ExportFormat.HTML)
    assert "“sun.png” (image/png, 5 bytes)" in await page(store, id)
    assert "sun.png" not in await page(store, id, ExportFormat.HTML, redact=True)


@pytest.mark.parametrize("format", PAGES)
async def test_a_redacted_page_names_nobody(store: Store, format: ExportFormat) -> None:
    """People have placeholders, also in what others say of them, and keys are gone."""
    id = await tell(store, "I am Alice, alice@mail.example, key sk-abcdefghijklmnop1234")
    await transfer_setup.answer(store, say(Role.ASSISTANT, "Hello Alice!"))

    text = await page(store, id, format, redact=True)

    assert "lice" not in text
    assert "sk-" not in text
    assert "Hello person-1" in text.replace("\\", "")


async def test_a_redacted_file_comes_in_like_any_other(
    store: Store, clock: FakeClock, database_factory: DatabaseFactory
) -> None:
    """Everything is in it but names, chats, secrets and attachments; the words stay in order."""
    await live(store, clock)
    data = await export(store, redact=True)
    lines = [json.loads(line) for line in data.splitlines()]

    assert lines[0]["redacted"] is True
    assert not [line for line in lines if line["type"] == "attachment"]
    for secret in (b"alice", b"Alice", b"Bob", b"4917012345", b"99@lid", b"guild", b"/srv", b"raw"):
        assert secret not in data
    report = await store.transfer.import_history(chunks(data))
    assert report.conflicts == len([line for line in lines if line["type"] == "session"])


async def test_a_long_session_is_written_line_by_line(store: Store) -> None:
    """No piece of a page is longer than a line needs, however long the session is."""
    id = await tell(store, "one")
    await transfer_setup.answer(store)
    for first in range(0, 1000, 100):
        await store.transcripts.record(
            id, [say(Role.SYSTEM, f"line {first + n}.") for n in range(100)]
        )

    pieces = [piece async for piece in store.transfer.export_page(id)]

    assert max(map(len, pieces)) < 500
    text = "".join(pieces)
    assert all(f"\nline {n}.\n" in text for n in range(1000))


async def test_odd_wishes_are_refused(store: Store) -> None:
    """An unknown session, format or id is said before anything is written."""
    id = await tell(store, "one")
    for wish in (
        {"id": SessionId("20200101_000000_00000000")},
        {"id": "../x"},
        {"id": id, "format": "pdf"},
        {"id": id, "format": ExportFormat.JSONL},
        {"id": id, "hidden": "yes"},
        {"id": id, "redact": 1},
    ):
        with pytest.raises((NotFound, Invalid)):
            _ = [piece async for piece in store.transfer.export_page(**wish)]
