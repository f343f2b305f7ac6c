"""Targets on every database: the addresses that they mean, and what is owed to them."""

import pytest
from msgspec.structs import replace

from tests.databases import OpenStore
from tests.store.job_setup import GROUP, HOME, hear
from threadline.core.address import Address, Kind
from threadline.core.delivery import SendOutcome
from threadline.core.errors import Invalid, NotFound
from threadline.core.message import BlobHash, MediaKind
from threadline.core.settings import Settings
from threadline.core.target import output_address, parse_target
from threadline.store import Store
from threadline.store.deliveries.targets import TargetContext, resolve_targets, send_words

PLATFORMS = frozenset({"telegram", "slack", "matrix", "local"})
CHANNEL = Address(platform="slack", kind=Kind.CHANNEL, chat="C1")
SLACK = Settings(homes={"slack": parse_target("slack:C1")})


async def reached(store: Store, written: str, origin: Address | None = HOME) -> list[Address]:
    """Ask which addresses a target means."""
    return await store.database.read(
        resolve_targets,
        written,
        profile="main",
        origin=origin,
        platforms=PLATFORMS,
    )


async def test_origin_and_local_are_found(store: Store) -> None:
    """Where it was asked for; from a terminal, or from nowhere, that is the output folder."""
    terminal = Address(platform="local", kind=Kind.DM, chat="terminal")
    output = output_address("main")

    assert await reached(store, "origin") == [HOME]
    assert await reached(store, "origin", terminal) == [output]
    assert await reached(store, "origin,local", None) == [output]


async def test_a_home_is_that_of_the_chat_before_that_of_the_settings(
    open_store: OpenStore,
) -> None:
    """The settings name a home until somebody chooses another one in a chat."""
    store = await open_store(rules=SLACK)
    assert await reached(store, "slack") == [CHANNEL]
    chosen = Address(platform="slack", kind=Kind.GROUP, chat="G")
    await store.deliveries.set_home(chosen)

    assert await reached(store, "slack") == [chosen]
    with pytest.raises(NotFound, match="telegram has no home"):
        await reached(store, "telegram")


async def test_a_chat_is_the_one_that_was_heard_of(store: Store) -> None:
    """A chat that somebody spoke in is known with all its labels; another one is taken as given."""
    await hear(store, at=GROUP)

    assert await reached(store, "telegram:g") == [GROUP]
    (other,) = await reached(store, "telegram:h")
    assert (other.kind, other.chat) == (Kind.CHANNEL, "h")
    (thread,) = await reached(store, "matrix:!r:s.org:$e")
    assert (thread.kind, thread.chat, thread.thread) == (Kind.THREAD, "!r:s.org", "$e")


async def test_a_home_of_the_settings_is_the_chat_that_was_heard_of(open_store: OpenStore) -> None:
    """A dm that is named as a home is that dm, also if it was written to before anybody spoke."""
    homes = {"telegram": parse_target(f"telegram:{HOME.chat}")}
    store = await open_store(rules=Settings(homes=homes))
    (unheard,) = await reached(store, "telegram")
    assert unheard.kind is Kind.CHANNEL
    await store.database.write(
        send_words,
        "telegram",
        "Hello",
        TargetContext(profile="main", origin=None, platforms=PLATFORMS),
        attachments=(),
    )
    await hear(store)

    assert await reached(store, "telegram") == [HOME]
    assert await reached(store, f"telegram:{HOME.chat}") == [HOME]


async def test_all_leaves_out_the_dead(open_store: OpenStore) -> None:
    """Every home that can be reached is meant; of the others it is said why."""
    store = await open_store(rules=SLACK)
    await store.deliveries.set_home(HOME)
    await store.database.write(
        send_words,
        "telegram",
        "Hello",
        TargetContext(profile="main", origin=None, platforms=PLATFORMS),
        attachments=(),
    )
    (parcel,) = await store.deliveries.lease(PLATFORMS)
    await store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "The bot was blocked.")

    assert await reached(store, "all") == [CHANNEL]
    sent = await store.database.write(
        send_words,
        "all",
        "Hello",
        TargetContext(profile="main", origin=None, platforms=PLATFORMS),
        attachments=(),
    )
    assert [address for _, address in sent.deliveries] == [CHANNEL]
    assert sent.problems == ("telegram:chat-of-ada is dead: The bot was blocked.",)
    assert await reached(store, "telegram") == [HOME]


async def test_an_unknown_platform_is_an_error(store: Store) -> None:
    """Without a list of platforms, those count that anybody ever came from."""
    with pytest.raises(Invalid, match="no platform “discord”"):
        await reached(store, "discord:1")
    with pytest.raises(Invalid, match="none yet"):
        await store.database.read(resolve_targets, "telegram:1", profile="main", origin=None)
    await hear(store)
    assert (
        len(await store.database.read(resolve_targets, "telegram:1", profile="main", origin=None))
        == 1
    )
    assert await store.known_platforms() == {"telegram", "local"}


async def test_words_are_owed_once_to_each(store: Store) -> None:
    """What is sent to a list is owed to each address once, with what is attached."""
    file = await store.attachments.put(b"abc", "text/plain", MediaKind.FILE, "a.txt")
    sent = await store.database.write(
        send_words,
        "origin,local,origin",
        "Hello",
        TargetContext(profile="main", origin=HOME, platforms=PLATFORMS),
        attachments=(file,),
    )

    assert [address for _, address in sent.deliveries] == [HOME, output_address("main")]
    parcels = await store.deliveries.lease(PLATFORMS)
    assert [parcel.text for parcel in parcels] == ["Hello", "Hello"]
    assert all(parcel.attachments == (file,) for parcel in parcels)


@pytest.mark.parametrize(
    ("target", "text", "error"),
    [
        ("", "Hello", Invalid),
        ("origin", " ", Invalid),
        ("origin", "\0", Invalid),
        ("all", "Hello", NotFound),
        ("discord", "Hello", Invalid),
    ],
)
async def test_what_cannot_be_sent_is_refused(
    store: Store, target: str, text: str, error: type[Exception]
) -> None:
    """Nothing to say, nobody to say it to, and what cannot be stored: nothing is owed."""
    with pytest.raises(error):
        await store.database.write(
            send_words,
            target,
            text,
            TargetContext(profile="main", origin=HOME, platforms=PLATFORMS),
            attachments=(),
        )

    assert await store.deliveries.lease(PLATFORMS) == []


async def test_an_attachment_must_be_there(store: Store) -> None:
    """A file that was never stored cannot be owed to anybody."""
    stored = await store.attachments.put(b"abc", "text/plain", MediaKind.FILE)
    with pytest.raises(NotFound, match="never stored"):
        await store.database.write(
            send_words,
            "local",
            "",
            TargetContext(profile="main", origin=None, platforms=None),
            attachments=(replace(stored, blob=BlobHash("0" * 64)),),
        )

    assert await store.deliveries.lease(PLATFORMS) == []
