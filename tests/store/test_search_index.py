"""The search index: it follows what changes, forgets what is gone, and can be checked."""

import asyncio
import hashlib
from pathlib import Path

import apsw

from tests.databases import FAST, DatabaseFactory, OpenStore, on
from tests.store.search_setup import OWNER, fill, numbers, talk, tell, texts
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import InboundKind
from threadline.core.message import Role, say
from threadline.core.session_patch import SessionPatch
from threadline.store import Store
from threadline.store.search import index
from threadline.store.search.check import check_index
from threadline.store.search.search import index_all, rebuild_index


async def test_edited_and_deleted_words_are_not_found(store: Store) -> None:
    """The new text is found and the old one is not, wherever the index stands."""
    for is_indexed in (False, True):
        number = str(next(numbers))
        await talk(store, "the password is swordfish", message_id=number)
        if is_indexed:
            await index_all(store.database)
        edit = {"message_id": number, "kind": InboundKind.EDIT, "version": 1}
        await tell(store, "the password is secret", **edit)
        assert await texts(store, "*wordfis*") == []
        assert await texts(store, '"password is secret"') == ["the password is secret"]

        await tell(store, "", message_id=number, kind=InboundKind.DELETION, version=2)

        assert await texts(store, "password") == []
        await index_all(store.database)
        assert await texts(store, "password") == []
        assert not await store.database.read(check_index)


async def test_long_texts_are_searched_up_to_a_place(store: Store) -> None:
    """Of a megabyte the first 65,536 characters are found, phrases and repeated words included."""
    start = "needle " + "the cat " * 400 + "early phrase here "
    middle = " ".join(f"w{n}" for n in range(9_000))
    han = "".join(chr(0x4E00 + n % 20_000) for n in range(30_000))
    await fill(store, [start + middle + " late" + " pad" * 250_000, han, "the cat"])
    await index_all(store.database)

    for question in ("needle w8000", '"early phrase here"', '"w7000 w7001"', '"cat the cat early"'):
        assert len((await store.search(question, asker=OWNER)).hits) == 1, question
    for question in ('"w7001 w7000"', '"cat cat"', 'needle -"early phrase"'):
        assert not (await store.search(question, asker=OWNER)).hits, question
    assert len((await store.search(han[25_000:25_010], asker=OWNER)).hits) == 1
    assert not (await store.search(han[25_009] + han[25_001], asker=OWNER)).hits
    assert len((await store.search('"the cat"', asker=OWNER)).hits) == 2
    assert not await store.database.read(check_index)


async def test_a_great_backlog_is_indexed_before_it_is_searched(store: Store) -> None:
    """A search works off some of what waits, and misses nothing of the rest."""
    await fill(store, [f"cherry {n}" for n in range(300)])

    found = await store.search("cherry", asker=OWNER, most=1000)

    assert len(found.hits) == 300
    assert found.is_complete
    assert not await store.database.read(index.count_waiting)


async def test_the_index_does_not_run_after_what_is_said_meanwhile(store: Store) -> None:
    """A slice tells whether more waits, so that nobody has to look once more to find nothing."""
    await fill(store, ["a pear", "a plum", "a fig"])

    assert await store.database.write(index.index_some, most=2) == (2, True)
    done, is_more = await store.database.write(index.index_some)
    assert done > 0
    assert not is_more
    assert not await store.database.read(index.count_waiting)


async def test_few_sessions_are_held_while_they_are_indexed(store: Store) -> None:
    """However little was said in each of many sessions, they are indexed some at a time."""
    for n in range(index.SLICE_SESSIONS + 1):
        address = Address(platform="telegram", kind=Kind.DM, chat=f"p{n}")
        await talk(store, "a pear", address=address, sender=Sender(id=f"p{n}"))

    done, is_more = await store.database.write(index.index_some)

    assert is_more
    assert done == index.SLICE_SESSIONS * await index_all(store.database)
    assert not await store.database.read(index.count_waiting)


async def test_the_check_notices_what_is_wrong(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """A line that changed behind the index's back is noticed, and a rebuild sets it right."""
    await fill(store, ["a pear", "a plum"])
    await index_all(store.database)
    assert not await store.database.read(check_index)

    database_factory.tamper("UPDATE messages SET text = 'a peach' WHERE text = 'a pear'")

    assert (await store.database.read(check_index))[0].grave
    assert await rebuild_index(store.database) > 2
    assert not await store.database.read(check_index)
    assert await texts(store, "peach") == ["a peach"]
    database_factory.tamper("DELETE FROM messages WHERE text = 'a plum'")
    assert "nobody wrote" in (await store.database.read(check_index))[0].what


@on(FAST)
async def test_nothing_of_a_deleted_text_stays_in_the_file(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """After an edit the words and their parts are in no page, used or free, and in no log."""
    secret = [hashlib.sha256(bytes([n])).hexdigest()[:20] for n in range(50)]
    tails = [word[6:].encode() for word in secret]
    ids = [str(next(numbers)) for _ in secret]
    id = await talk(store, "begin")
    for number, word in zip(ids, secret, strict=True):
        await talk(store, f"say {word} now", message_id=number)
    await store.sessions.update(id, SessionPatch(title=f"About {secret[0]}"))
    await index_all(store.database)
    pages = database_factory.tamper("SELECT block FROM message_words_data")
    held = b"".join(page for (page,) in pages if isinstance(page, bytes))
    assert all(tail in held for tail in tails)

    for number in ids:
        await tell(store, "nothing", message_id=number, kind=InboundKind.EDIT, version=1)
    await store.sessions.update(id, SessionPatch(title="Nothing"))
    await index_all(store.database)

    content = await _content(database_factory)
    assert [tail for tail in tails if tail in content] == []


async def _content(database_factory: DatabaseFactory) -> bytes:
    """Read the file of a store, after all that is kept on purpose was overwritten: old texts."""
    connection = apsw.Connection(database_factory.where)
    connection.execute("PRAGMA secure_delete = 1").fetchall()
    connection.execute("UPDATE revisions SET text = 'x'")
    connection.execute("UPDATE messages SET text = 'x' WHERE role = 'system'")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    return await asyncio.to_thread(Path(database_factory.where).read_bytes)


async def test_two_processes_index_while_others_write(open_store: OpenStore) -> None:
    """Whoever indexes what, and whatever is said and edited meanwhile: each line is there once."""
    one, other = await open_store(), await open_store()

    async def speak(store: Store, who: str) -> None:
        place = {"address": Address(platform="telegram", kind=Kind.DM, chat=who)}
        for n in range(6):
            number = f"{who}-{n}"
            said = {**place, "sender": Sender(id=who), "message_id": number}
            arrival = await tell(store, f"melon {n}", **said)
            claim = await store.turns.claim(arrival.session_id)
            assert claim is not None
            await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "noted")])
            await tell(store, f"lemon {n}", **said, kind=InboundKind.EDIT, version=1)

    async def index_often(store: Store) -> None:
        for _ in range(10):
            await index_all(store.database)

    speakers = (speak(store, f"{n}") for n, store in enumerate((one, other) * 4))
    await asyncio.gather(*speakers, index_often(one), index_often(other))
    await index_all(one.database)

    assert not await one.database.read(check_index)
    assert not (await one.search("melon", asker=OWNER)).hits
    assert len((await one.search("lemon", asker=OWNER, most=100)).hits) == 48


async def test_the_index_is_not_announced(store: Store) -> None:
    """Indexing changes nothing that a screen shows, so the feed is silent about it."""
    await fill(store, ["a quince"])
    before = await store.feed.end()

    assert await index_all(store.database)

    assert not (await store.feed.read(before)).events
    assert await index_all(store.database) == 0


async def test_an_old_store_is_searched_before_it_is_indexed(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """After an upgrade nothing is indexed; everything is found, and indexed in time."""
    await fill(store, ["an apricot"])
    database_factory.tamper("UPDATE sessions SET indexed_seq = 0, indexed_title = NULL")

    assert len((await store.search("apricot", asker=OWNER)).hits) == 1
    assert await index_all(store.database) > 0
    assert len((await store.search("apricot", asker=OWNER)).hits) == 1
