"""The inbox: who is heard, what becomes of it, and what is said to those who are not."""

import asyncio
import logging
import re
from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.databases import FAST, POSTGRES, DatabaseFactory, OpenStore, on
from tests.gateway.inbox_setup import ALICE, GROUP, Front
from threadline.core.access import AccessRules
from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind, Sender
from threadline.core.command import COMMANDS
from threadline.core.errors import Invalid, QueueFull, StorageError
from threadline.core.gateway_status import ServerHealth, ServerState
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Attachment, BlobHash, MediaKind, Text
from threadline.core.person import Identity
from threadline.core.platform import Capabilities, ReceiveStatus
from threadline.core.profile_rules import ProfileRule
from threadline.core.settings import Settings
from threadline.gateway.platform_supervisor import PlatformSupervisor
from threadline.platforms.simulated import Simulated
from threadline.store import Store, gateways
from threadline.store.gateways import register_gateway
from threadline.store.inbound.deduplication import find_arrival
from threadline.testing.clock import FakeClock

pytestmark = on(FAST, POSTGRES)

CODE = re.compile(r"\b[2-9A-HJ-NP-Z]{8}\b")
BOT = Sender(id="robot", is_bot=True)


@pytest.fixture
def front(store: Store) -> Front:
    """Stand before a door that Alice and Bob may enter."""
    return Front(store)


async def test_a_message_is_on_disk_when_it_is_taken(front: Front) -> None:
    """It has its turn; the same one again has the same turn, and is not kept twice."""
    said = front.said("hello")

    first, second = await front.inbox.take(said), await front.inbox.take(said)

    assert first.reception is ReceiveStatus.TAKEN
    assert (second.reception, second.turn_id) == (ReceiveStatus.REPEATED, first.turn_id)
    assert await front.transcripts() == ["hello"]
    assert b'reception="taken"} 1.0' in front.meters.text()
    assert b'reception="repeated"} 1.0' in front.meters.text()


async def test_a_stranger_is_shown_a_code_and_nothing_is_kept(
    front: Front, database_factory: DatabaseFactory
) -> None:
    """Once, directly, to them alone. What they said is nowhere, and neither is the code."""
    taken = await front.take("let me in, secretly", "mallory")
    again = await front.take("/sessions", "mallory")

    ((chat, words),) = front.voice.words
    code = CODE.findall(words)[0]
    assert chat == "mallory"
    assert taken.reception is ReceiveStatus.REFUSED is again.reception
    assert code not in str(taken)
    assert await front.transcripts() == [] == await front.owed()
    for table in ("addresses", "senders", "arrivals", "deliveries"):
        assert database_factory.tamper(f"SELECT * FROM {table}") == []
    # Whoever watches is told that somebody waits to be let in, and not who.
    assert database_factory.tamper("SELECT kind, subject FROM events") == [("access.changed", None)]
    assert code not in str(database_factory.tamper("SELECT * FROM pairings"))

    await front.store.people.approve_pairing(code)
    assert (await front.take("now?", "mallory")).reception is ReceiveStatus.TAKEN
    assert await front.store.people.revoke(Identity(platform="telegram", id="mallory"))
    assert (await front.take("and now?", "mallory")).reception is ReceiveStatus.REFUSED
    assert await front.transcripts() == ["now?"]


async def test_a_stranger_reaches_nothing_by_any_command(
    front: Front, database_factory: DatabaseFactory
) -> None:
    """By number, title, id or search: what is there is neither told nor touched."""
    await front.take("a secret plan")
    await front.answer("a secret answer")
    await front.owed()
    (row,) = (await front.store.sessions.list()).rows
    events = "SELECT count(*) FROM events WHERE kind <> 'access.changed'"
    before = database_factory.tamper(events)

    for command in COMMANDS:
        for argument in ("", " 1", " secret", f" {row.session.id}", " all", " me"):
            taken = await front.take(f"/{command.name}{argument}", "mallory")
            assert (taken.reception, taken.turn_id) == (ReceiveStatus.REFUSED, None)
            assert "secret" not in (taken.said or "")

    assert len(front.voice.words) == 1
    assert await front.owed() == []
    assert database_factory.tamper(events) == before


async def test_strangers_hear_nothing_elsewhere(store: Store) -> None:
    """In a group, as a bot, by an edit or a deletion, as chatter, or where nobody is paired."""
    front = Front(store, AccessRules(allow=["telegram:alice"]))
    message = front.said("my secret")
    await front.inbox.take(message)

    for stranger in (
        front.said("hi", "mallory", address=GROUP),
        front.said("hi", sender=BOT),
        front.said("hi", sender=Sender(name="Nobody")),
        front.said("hi", "mallory", observed=True),
        front.said("changed", "mallory", kind=InboundKind.EDIT, version=1),
        replace(message, sender=Sender(id="mallory"), kind=InboundKind.DELETION, parts=()),
    ):
        assert (await front.inbox.take(stranger)).reception is ReceiveStatus.REFUSED
    shut = Front(store, AccessRules(pairing=False))
    assert (await shut.take("hi", "mallory")).reception is ReceiveStatus.REFUSED

    await front.inbox.settle()
    assert front.voice.words == [] == shut.voice.words
    assert await front.transcripts() == ["my secret"]
    assert await store.people.pairings() == []


async def test_who_is_refused_in_a_group_is_logged(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """The line has the ids that the settings need, on one line, and nothing of what was said."""
    caplog.set_level(logging.INFO, "threadline.gateway")
    front = Front(store, AccessRules(allow=["telegram:alice"]), per_minute=2)
    odd = replace(GROUP, chat="-100\n99")

    for _ in range(5):
        await front.take("a secret", "mallory", address=GROUP)
    await front.inbox.take(front.said("a secret", sender=BOT, address=odd))
    await front.take("chatter", "mallory", address=odd, observed=True)
    await front.take("hello", address=GROUP)

    person = (
        f"Refused a message from telegram:mallory in telegram:{GROUP.chat}: the sender is not in"
        " access.allow, nor the chat in access.chats"
    )
    bot = "Refused a message from the bot telegram:robot in telegram:-100 99: it is not in"
    lines = [line for line in caplog.messages if line.startswith("Refused")]
    assert lines == [person, person, f"{bot} access.bots"]
    assert "secret" not in caplog.text


async def test_a_flood_of_strangers_is_three_codes(front: Front) -> None:
    """A thousand of them, each of whom writes twice, are told three codes, and harm nobody."""
    sent = [front.said("let me in", f"s{n}") for n in range(1000) for _ in range(2)]
    taken = await asyncio.gather(*(front.inbox.take(said) for said in sent))
    await front.inbox.settle()

    assert {one.reception for one in taken} == {ReceiveStatus.REFUSED}
    assert len(front.voice.words) == 3
    assert (await front.take("hello")).reception is ReceiveStatus.TAKEN


async def test_everybody_in_an_allowed_chat_may_speak(front: Front) -> None:
    """There, and only there; chatter is kept as context and starts no turn."""
    spoken = await front.take("agent, what is up?", "carol", address=GROUP)
    chatter = await front.take("lunch?", "carol", address=GROUP, observed=True)
    alone = await front.take("psst", "carol")

    assert (spoken.reception, spoken.turn_id is None) == (ReceiveStatus.TAKEN, False)
    assert (chatter.reception, chatter.turn_id) == (ReceiveStatus.TAKEN, None)
    assert alone.reception is ReceiveStatus.REFUSED


async def test_trust_replaces_the_question_who_they_are(front: Front) -> None:
    """An authenticated connector answers for the sender; so does the terminal."""
    local = Address(platform="local", kind=Kind.DM, chat="terminal")

    assert (await front.take("hi", "zed", is_trusted=True)).reception is ReceiveStatus.TAKEN
    assert (await front.take("hi", "owner", address=local)).reception is ReceiveStatus.TAKEN
    assert "a lot at once" not in str((await front.take("/platforms", "owner", address=local)).said)


async def test_no_platform_speaks_for_the_owner(front: Front) -> None:
    """What comes from a chat is not said at the terminal, whatever the chat says."""
    local = Address(platform="local", kind=Kind.DM, chat="terminal")
    connection = PlatformSupervisor(Simulated("telegram"), front.inbox, now=front.store.now)

    taken = await connection.take(front.said("/platforms", address=local))
    usual = await connection.take(front.said("hello"))
    named = PlatformSupervisor(Simulated("local"), front.inbox, now=front.store.now)
    local_taken = await named.take(front.said("/platforms", address=local))

    assert (taken.reception, usual.reception) == (ReceiveStatus.REFUSED, ReceiveStatus.TAKEN)
    assert local_taken.reception is ReceiveStatus.REFUSED
    assert await front.owed() == []


async def test_no_platform_speaks_for_another_one(front: Front) -> None:
    """The senders of a platform are known by its name, so no other platform may use it."""
    connection = PlatformSupervisor(Simulated("hook"), front.inbox, now=front.store.now)

    taken = await connection.take(front.said("hello"))

    assert taken.reception is ReceiveStatus.REFUSED


async def test_the_phone_number_on_the_list_is_the_lid_that_speaks(store: Store) -> None:
    """As soon as it is known that both are one human, and not before."""
    front = Front(store, AccessRules(allow=["whatsapp:+4917"], admins=["whatsapp:4918"]))
    dm = Address(platform="whatsapp", kind=Kind.DM, chat="99@lid")

    before = await front.take("hi", "99@lid", address=dm)
    await store.people.learn_alias("whatsapp", "99@lid", "4917")
    after = await front.take("hi again", "99@lid", address=dm)

    assert (before.reception, after.reception) == (ReceiveStatus.REFUSED, ReceiveStatus.TAKEN)


async def test_where_it_comes_from_names_the_profile(store: Store) -> None:
    """Access, conversation and everything else are those of that profile."""
    rules = [ProfileRule(profile="work", platform="telegram", chat="group")]
    front = Front(store, routing=rules, default_profile="family")

    await front.take("at work", address=GROUP)
    await front.take("at home")
    await front.take("by path", profile="third")

    for profile, words in (("work", "at work"), ("family", "at home"), ("third", "by path")):
        assert await front.transcripts(profile) == [words]
    await store.people.allow(Identity(platform="telegram", id="zed"), profile="work")
    assert (await front.take("hi", "zed")).reception is ReceiveStatus.REFUSED


async def test_who_writes_too_much_waits(open_store: OpenStore) -> None:
    """They are told once a minute; others, deletions and chatter's silence are as before."""
    clock = FakeClock()
    front = Front(await open_store(clock=clock), replace(ALICE, per_minute=3))
    last = front.said("3")

    taken = [(await front.take(str(n))).reception for n in range(2)]
    taken += [(await front.inbox.take(last)).reception]
    assert set(taken) == {ReceiveStatus.TAKEN}
    for _ in range(3):
        assert (await front.take("more")).reception is ReceiveStatus.LIMITED
    chatter = await front.take("chat", "carol", address=GROUP, observed=True)
    gone = replace(last, kind=InboundKind.DELETION, parts=())
    assert (await front.inbox.take(gone)).reception is ReceiveStatus.TAKEN
    assert (await front.take("me too", "bob")).reception is ReceiveStatus.TAKEN
    assert chatter.reception is ReceiveStatus.TAKEN
    ((chat, words),) = front.voice.words
    until = clock() + timedelta(seconds=21)
    assert (chat, f"until {until:%H:%M:%S} UTC" in words) == ("alice", True)

    clock.advance(timedelta(seconds=20))
    assert (await front.take("one a third of a minute")).reception is ReceiveStatus.TAKEN
    assert (await front.take("but not two")).reception is ReceiveStatus.LIMITED
    clock.advance(timedelta(minutes=2))
    for _ in range(4):
        await front.take("again")
    told = [words for _, words in front.voice.words[1:]]
    assert ["left out 3 of" in told[0], "a lot at once" in told[1], len(told)] == [True, True, 2]


async def test_what_was_held_up_is_no_haste(open_store: OpenStore) -> None:
    """A platform that brings some minutes' messages all at once is judged by when they came."""
    clock = FakeClock()
    front = Front(await open_store(clock=clock), replace(ALICE, per_minute=2))
    start = clock() - timedelta(minutes=4)

    held = [front.said(str(n), at=start + n * timedelta(seconds=30)) for n in range(8)]
    taken = [(await front.inbox.take(said)).reception for said in held]

    assert set(taken) == {ReceiveStatus.TAKEN}


async def test_a_date_of_long_ago_is_no_excuse(open_store: OpenStore) -> None:
    """Whoever dates their messages far apart, and sends them at once, writes too fast."""
    clock = FakeClock()
    front = Front(await open_store(clock=clock), replace(ALICE, per_minute=2))
    start = clock() - timedelta(days=9000)

    dated = [front.said(str(n), at=start + n * timedelta(minutes=1)) for n in range(30)]
    taken = [(await front.inbox.take(said)).reception for said in dated]
    await front.inbox.settle()

    assert taken.count(ReceiveStatus.TAKEN) == 2


async def test_commands_are_carried_out_once(front: Front) -> None:
    """The answer is owed to the chat, and said to the platform; the same one again does nothing."""
    said = front.said("/title Holidays")
    await front.take("hello")

    first, second = await front.inbox.take(said), await front.inbox.take(said)

    assert first.reception is ReceiveStatus.COMMAND
    assert second == replace(first, reception=ReceiveStatus.REPEATED)
    assert await front.owed() == [first.said]
    assert first.said is not None
    assert "Holidays" in first.said


async def test_a_command_that_does_not_exist_is_answered(
    front: Front, caplog: pytest.LogCaptureFixture
) -> None:
    """With the one that may be meant, once; a path is no command."""
    caplog.set_level(logging.INFO)
    said = front.said("/sesions")

    first, second = await front.inbox.take(said), await front.inbox.take(said)
    path = await front.take("/etc/hosts looks odd")

    assert (first.reception, second) == (ReceiveStatus.COMMAND, first)
    assert await front.owed() == [first.said]
    assert "was not taken in" not in caplog.text
    assert "Did you mean /sessions?" in (first.said or "")
    assert path.reception is ReceiveStatus.TAKEN


async def test_commands_that_see_far_are_for_admins(store: Store) -> None:
    """A member is told so; an admin gets what they asked for; chatter is no command."""
    front = Front(store, replace(ALICE, admins=["telegram:root"]))
    health = ServerHealth(state=ServerState.UP, since=store.now(), tools=13)
    await store.database.write(
        register_gateway,
        owner=store.database.owner,
        host="ship",
        pid=7,
        version="1",
        url=None,
        platforms={},
    )
    await gateways.beat(store.database, {}, servers={"notes": health})

    member = await front.take("/platforms")
    admin = await front.take("/platforms", "root")
    chatter = await front.take("/new", "carol", address=GROUP, observed=True)

    assert "admin" in (member.said or "")
    assert admin.reception is ReceiveStatus.COMMAND
    assert "is for those" not in (admin.said or "")
    assert "- MCP server notes: up for 0 seconds, 13 tools" in (admin.said or "")
    assert (chatter.reception, chatter.said) == (ReceiveStatus.TAKEN, None)


async def test_a_secret_is_said_and_not_kept(
    front: Front, database_factory: DatabaseFactory
) -> None:
    """The code of /link goes to the chat directly; the ledger never sees it."""
    taken = await front.take("/link")

    ((chat, words),) = front.voice.words
    code = CODE.findall(words)[0]
    assert (chat, taken.said) == ("alice", None)
    assert await front.owed() == []
    for table in ("deliveries", "messages", "arrivals", "link_codes"):
        assert code not in str(database_factory.tamper(f"SELECT * FROM {table}"))


async def test_an_export_is_made_in_the_background(front: Front) -> None:
    """The file is owed to the chat; a file that is too large for the platform is explained."""
    await front.take("hello")
    await front.answer("hi")
    assert await front.owed() == ["hi"]

    await front.take("/export")
    files = await front.owed_files()
    small = Front(front.store, capabilities=lambda _: Capabilities())
    await small.take("/export")
    words = await small.owed()

    assert [file.media_type for file in files] == ["text/markdown"]
    assert any("cannot be sent here" in line for line in words)


async def test_a_full_queue_is_said(open_store: OpenStore) -> None:
    """The sender of a message that is one too many is told so once, and when to come back."""
    front = Front(await open_store(rules=Settings(queue_cap=2)))
    for n in range(2):
        await front.take(str(n))
    said = front.said("too much")

    first, second = await front.inbox.take(said), await front.inbox.take(said)

    assert first.reception is ReceiveStatus.BUSY
    assert first.retry_after == QueueFull.retry_after
    assert second == first
    assert await front.owed() == [first.said]
    assert "Too many messages" in (first.said or "")


async def test_a_refused_message_that_comes_again_is_received(open_store: OpenStore) -> None:
    """A message that was refused because too many waited is stored when it is sent again."""
    front = Front(await open_store(rules=Settings(queue_cap=1)))
    await front.take("first")
    said = front.said("second")
    assert (await front.inbox.take(said)).reception is ReceiveStatus.BUSY
    assert await front.store.database.read(find_arrival, said) is None
    await front.answer("ok")

    received, repeated = await front.inbox.take(said), await front.inbox.take(said)

    assert (received.reception, repeated.reception) == (ReceiveStatus.TAKEN, ReceiveStatus.REPEATED)
    assert received.turn_id == repeated.turn_id is not None
    assert await front.transcripts() == ["first", "second"]


async def test_a_change_of_a_refused_message_waits_for_it(open_store: OpenStore) -> None:
    """An edit of a message that was refused is applied when the message is sent again."""
    front = Front(await open_store(rules=Settings(queue_cap=1)))
    await front.take("first")
    said = front.said("secnd")
    await front.inbox.take(said)
    edit = replace(said, kind=InboundKind.EDIT, version=1, parts=(Text(text="second"),))
    await front.inbox.take(edit)
    await front.answer("ok")
    await front.inbox.take(said)

    assert await front.transcripts() == ["first", "second"]


async def test_a_refused_command_that_comes_again_is_carried_out(front: Front) -> None:
    """A command that failed is tried again when its message comes again, and reported once."""
    said = front.said("/title Journey")
    first, second = await front.inbox.take(said), await front.inbox.take(said)
    assert "no conversation yet" in (first.said or "")
    assert second == first
    assert await front.owed() == [first.said]
    await front.take("hello")

    third, fourth = await front.inbox.take(said), await front.inbox.take(said)

    assert "Journey" in (third.said or "")
    assert (third.reception, fourth.reception) == (ReceiveStatus.COMMAND, ReceiveStatus.REPEATED)
    assert len(await front.owed()) == 1


async def test_a_command_with_words_that_do_not_fit_is_busy(open_store: OpenStore) -> None:
    """Words of a command that are refused because too many wait are stored when sent again."""
    front = Front(await open_store(rules=Settings(queue_cap=1)))
    await front.take("first")
    said = front.said("/queue second")
    assert (await front.inbox.take(said)).reception is ReceiveStatus.BUSY
    await front.answer("ok")

    assert (await front.inbox.take(said)).reception is ReceiveStatus.COMMAND
    assert await front.transcripts() == ["first", "second"]


async def test_an_attachment_that_nobody_stored_is_refused_in_words(front: Front) -> None:
    """One that was kept comes along; one that was not is told, and never raised."""
    kept = await front.inbox.keep(b"pixels", "image/png", MediaKind.IMAGE, "a.png")
    good = await front.take("look", parts=(Text(text="look"), kept))
    lost = Attachment(kind=MediaKind.FILE, blob=BlobHash(kept.blob[::-1]), media_type="a/b", size=1)
    bad = await front.take("look", parts=(lost,))

    assert good.reception is ReceiveStatus.TAKEN
    assert bad.reception is ReceiveStatus.REFUSED
    with pytest.raises(Invalid):
        await front.inbox.keep(b"x" * (26 * 1024 * 1024), "a/b", MediaKind.FILE)


async def test_a_chat_keeps_its_order(front: Front) -> None:
    """However long it takes to find out who speaks: messages of a chat are kept as they came."""
    free = Front(front.store, replace(ALICE, per_minute=0))
    sent = [free.said(f"{n}", who) for n in range(40) for who in ("alice", "bob")]
    rank, waits = free.access.rank, {said.message_id: 80 - n for n, said in enumerate(sent)}

    async def rank_slowly(inbound: Inbound) -> AccessLevel:
        for _ in range(waits[inbound.message_id]):
            await asyncio.sleep(0)
        return await rank(inbound)

    free.access.rank = rank_slowly  # type: ignore[method-assign]
    taken = await asyncio.gather(*(free.inbox.take(said) for said in sent))

    for first in (0, 1):
        turns = [one.turn_id or 0 for one in taken[first::2]]
        assert turns == sorted(turns)


async def test_only_a_store_that_does_not_work_raises(front: Front) -> None:
    """Then the platform keeps the message, and brings it again."""
    said = front.said("hello")
    await front.store.close()

    with pytest.raises(StorageError):
        await front.inbox.take(said)
    with pytest.raises(StorageError):
        await front.inbox.keep(b"x", "a/b", MediaKind.FILE)


async def test_what_is_no_message_is_refused(front: Front) -> None:
    """A platform that brings nonsense is told so, and nothing breaks."""
    for nonsense in (None, "hello", object(), {"text": "hello"}):
        taken = await front.inbox.take(nonsense)  # type: ignore[arg-type]
        assert taken.reception is ReceiveStatus.REFUSED

    assert (await front.take("hello")).reception is ReceiveStatus.TAKEN
