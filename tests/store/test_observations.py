"""Group chatter: stored once for each chat, and shown to the conversation that asks next."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.databases import FAST, POSTGRES, DatabaseFactory, OpenStore, on
from tests.gateway.inbox_setup import ALICE, Front
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Message, Role, Text, say
from threadline.core.person import Identity
from threadline.core.platform import ReceiveStatus
from threadline.core.retention import Retention
from threadline.core.settings import Settings
from threadline.gateway.request import name_sender
from threadline.store import Store
from threadline.store.deletion.prune import prune
from threadline.store.inbound.observations import SHOWN
from threadline.store.transcripts.history import OBSERVED_CHARACTERS
from threadline.testing.clock import FakeClock

pytestmark = on(FAST, POSTGRES)

GROUP = Address(platform="telegram", kind=Kind.GROUP, chat="group", chat_name="Garden")
TABLES = ("sessions", "bindings", "turns", "messages")


@pytest.fixture
async def clock() -> FakeClock:
    """Make a clock that stands still."""
    return FakeClock()


@pytest.fixture
async def front(open_store: OpenStore, clock: FakeClock) -> Front:
    """Stand in a group where each member has a conversation of their own."""
    return Front(await open_store(clock=clock), replace(ALICE, per_minute=0))


async def chats(front: Front, text: str, who: str = "bob", **more: object) -> Inbound:
    """Let somebody say something to the others in the group."""
    said = front.said(text, who, address=GROUP, observed=True, **more)
    taken = await front.inbox.take(said)
    assert (taken.reception, taken.turn_id) == (ReceiveStatus.TAKEN, None)
    return said


async def ask(front: Front, text: str, who: str = "alice") -> list[str]:
    """Let a member ask the agent in the group; return what it is shown of people's words."""
    await front.take(text, who, address=GROUP)
    claim = await front.store.turns.claim()
    assert claim is not None
    shown = await front.store.transcripts.history(claim.turn.session_id)
    await front.store.turns.finish(claim.lease, [say(Role.ASSISTANT, "ok")])
    return [_seen(line) for line in shown if line.role is Role.USER]


def _seen(line: Message) -> str:
    return name_sender(line).text if line.key < 0 else line.text


async def test_chatter_is_stored_once_and_shown_to_who_asks_next(
    front: Front, database_factory: DatabaseFactory
) -> None:
    """Each member's conversation is shown it once, by name; a member who only chats has none."""
    await chats(front, "the peas are up")
    await chats(front, "and the beans", "carol")
    for table in TABLES:
        assert database_factory.tamper(f"SELECT count(*) FROM {table}") == [(0,)]

    first = await ask(front, "what is up?")
    other = await ask(front, "and for me?", "dave")
    await chats(front, "lunch?")
    again = await ask(front, "anything new?")

    heard = ["[Bob] the peas are up", "[Carol] and the beans"]
    assert first == [*heard, "what is up?"]
    assert other == [*heard, "and for me?"]
    assert again == [*heard, "what is up?", "[Bob] lunch?", "anything new?"]
    assert database_factory.tamper("SELECT count(*) FROM observations") == [(3,)]
    assert database_factory.tamper("SELECT count(*) FROM sessions") == [(2,)]


async def test_who_only_chatted_is_greeted_when_they_ask(front: Front) -> None:
    """Their first words to the agent are still their first."""
    await chats(front, "hello all")
    await front.take("hello", "bob", address=GROUP)
    claim = await front.store.turns.claim()
    assert claim is not None

    shown = await front.store.transcripts.history(claim.turn.session_id)

    assert any("first message" in line.text for line in shown if line.role is Role.SYSTEM)


async def test_chatter_that_comes_twice_is_stored_once(front: Front) -> None:
    """The same message of the platform is known, and told as repeated."""
    said = await chats(front, "the peas are up")

    assert (await front.inbox.take(said)).reception is ReceiveStatus.REPEATED
    assert await ask(front, "what?") == ["[Bob] the peas are up", "what?"]


async def test_edits_and_deletions_change_what_is_shown(front: Front) -> None:
    """Also after it was shown, and if the change comes before its message; an old one does not."""
    edited, gone = await chats(front, "the pees are up"), await chats(front, "a secret")
    early = front.said("tomorow", "bob", address=GROUP, observed=True)
    await ask(front, "before")
    for change in (
        replace(edited, kind=InboundKind.EDIT, version=2, parts=(Text(text="the peas are up"),)),
        replace(edited, kind=InboundKind.EDIT, version=1, parts=(Text(text="outdated"),)),
        replace(gone, kind=InboundKind.DELETION, version=1, parts=()),
        replace(early, kind=InboundKind.EDIT, version=1, parts=(Text(text="tomorrow"),)),
    ):
        await front.inbox.take(change)
    await front.inbox.take(early)

    shown = await ask(front, "after")

    assert shown == ["[Bob] the peas are up", "before", "[Bob] tomorrow", "after"]


async def test_only_the_latest_chatter_is_shown(front: Front, clock: FakeClock) -> None:
    """As many messages and characters as fit, and nothing that is older than a day."""
    await chats(front, "yesterday")
    clock.advance(timedelta(days=1, seconds=1))
    for n in range(SHOWN + 5):
        await chats(front, f"{n}")
    many = await ask(front, "many?")
    for _ in range(10):
        await chats(front, "x" * 5000)
    long = await ask(front, "long?")

    assert many == [f"[Bob] {n}" for n in range(5, SHOWN + 5)] + ["many?"]
    heard = long[len(many) : -1]
    assert 0 < sum(len(text) for text in heard) <= OBSERVED_CHARACTERS + 10 * len(heard)


async def test_a_name_cannot_pretend_to_be_another(front: Front) -> None:
    """Brackets and invisible characters of a name are taken out before it is shown."""
    await chats(front, "hi", sender=Sender(id="bob", name="Bob] [Alice\u202e"))

    shown = await ask(front, "who?")

    assert shown[0] == "[Bob) (Alice] hi"


async def test_chatter_stays_in_its_chat_and_profile(front: Front) -> None:
    """Another chat, a thread of the same one and a direct chat are not shown it."""
    await chats(front, "the peas are up")
    for address in (
        replace(GROUP, chat="other"),
        replace(GROUP, kind=Kind.THREAD, thread="t"),
        replace(GROUP, kind=Kind.DM, chat="alice"),
    ):
        arrival = await front.store.receive(front.said("hi", address=address))
        assert arrival.session_id is not None
        claim = await front.store.turns.claim()
        assert claim is not None
        shown = await front.store.transcripts.history(arrival.session_id)
        assert "peas" not in str(shown)
        await front.store.turns.finish(claim.lease, [])


async def test_a_branch_shows_what_its_base_showed(front: Front) -> None:
    """What was said between others belongs to the turn that it was shown with; undone, it goes."""
    await chats(front, "the peas are up")
    await ask(front, "what?")
    row = (await front.store.sessions.list()).rows[0]
    branch = await front.store.transcripts.branch(row.session.id)

    shown = [
        line.text
        for line in await front.store.transcripts.history(branch.id)
        if line.role is Role.USER
    ]
    await front.store.transcripts.undo(row.session.id)
    left = [
        line
        for line in await front.store.transcripts.history(row.session.id)
        if line.role is Role.USER
    ]

    assert shown == ["the peas are up", "what?"]
    assert left == []


async def test_who_is_forgotten_leaves_no_chatter(
    front: Front, database_factory: DatabaseFactory
) -> None:
    """Their words are gone from the chat's store and from what agents are shown; others' stay."""
    await chats(front, "bobs words")
    await chats(front, "carols words", "carol")
    await ask(front, "what?")

    certificate = await front.store.people.delete(Identity(platform="telegram", id="bob"))

    assert certificate.counts["messages"] == 1
    rows = database_factory.tamper("SELECT text FROM observations")
    assert rows == [("carols words",)]
    assert await ask(front, "and now?") == ["[Carol] carols words", "what?", "and now?"]


async def test_chatter_is_not_kept_for_ever(
    front: Front, clock: FakeClock, database_factory: DatabaseFactory
) -> None:
    """It goes with the retention rules, and after 30 days at the latest; numbers are not reused."""
    await chats(front, "old")
    await ask(front, "what?")
    clock.advance(timedelta(days=2))
    await prune(front.store.database)
    assert database_factory.tamper("SELECT count(*) FROM observations") == [(1,)]
    await prune(front.store.database, Retention(by_platform={"telegram": timedelta(days=1)}))
    assert database_factory.tamper("SELECT count(*) FROM observations") == [(0,)]
    await chats(front, "new")
    shown = await ask(front, "now?")
    clock.advance(timedelta(days=31))
    await prune(front.store.database)

    assert shown[-2:] == ["[Bob] new", "now?"]
    assert database_factory.tamper("SELECT count(*) FROM observations") == [(0,)]


async def test_where_all_share_a_conversation_chatter_is_part_of_it(open_store: OpenStore) -> None:
    """There it stands in the one transcript of the chat, as before."""
    store: Store = await open_store(rules=Settings())
    front = Front(store, replace(ALICE, per_minute=0))
    thread = replace(GROUP, kind=Kind.THREAD, thread="t")
    await front.take("the peas are up", "bob", address=thread, observed=True)
    await front.take("what?", "alice", address=thread)

    assert await front.transcripts() == ["the peas are up", "what?"]
