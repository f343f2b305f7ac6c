"""What commands answered is forgotten too, while it waits to be sent."""

from pathlib import Path

from tests.databases import FAST, POSTGRES, DatabaseFactory, on
from tests.gateway.inbox_setup import THREAD, Front
from threadline.store import Store

pytestmark = on(FAST, POSTGRES)


def holds(factory: DatabaseFactory, word: str) -> bool:
    """Look for a word in the ledger, and as bytes in every file of a SQLite store."""
    if word in str(factory.tamper("SELECT text, parts FROM deliveries")):
        return True
    if factory.kind == POSTGRES:
        return False
    files = Path(factory.where).parent.glob("threadline.db*")
    return any(word.encode() in file.read_bytes() for file in files if file.is_file())


async def test_answers_to_commands_go_with_whoever_asked(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """Also where several speak: what others asked for is still sent, and theirs is nowhere."""
    front = Front(store)
    await front.take("hello", address=THREAD)
    await front.answer("hi")
    await front.owed()
    await front.take('/job add "every 1h" name=ZEBRAJOB do ZEBRAPROMPT', address=THREAD)
    await front.take("/background ZEBRABACK", address=THREAD)
    await front.take("/resume ZEBRATITLE", address=THREAD)
    await front.take("/whoami", "bob", address=THREAD)
    assert holds(database_factory, "ZEBRA")

    await front.take("/forget me yes", address=THREAD)

    (owed,) = await front.owed()
    assert "bob" in owed
    assert not holds(database_factory, "ZEBRA")


async def test_answers_to_commands_go_with_their_session(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """Its title in an answer, and the file that was made of it."""
    front = Front(store)
    await front.take("tell me of ZEBRAWORD")
    await front.answer("gladly")
    await front.owed()
    await front.take("/title ZEBRATITLE")
    await front.take("/export")
    assert holds(database_factory, "ZEBRATITLE")

    await front.take("/forget this yes")

    assert await front.owed() == []
    assert not holds(database_factory, "ZEBRA")
    assert database_factory.tamper("SELECT hash FROM blobs") == []
