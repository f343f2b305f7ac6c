import pytest

from tests.platforms.telegram.bot_setup import TelegramStage, make_telegram, running, stage
from threadline.core.errors import PlatformError
from threadline.core.message import Attachment, MediaKind, plain_text
from threadline.core.platform import ReceiveStatus
from threadline.testing.fake_gate import RecordingGate

DATA = bytes(range(256)) * 40


def files(gate: RecordingGate) -> list[Attachment]:
    return [part for one in gate.taken for part in one.parts if isinstance(part, Attachment)]


async def sent(set_up: TelegramStage, **given: object) -> RecordingGate:
    """Let what Alice sent be brought."""
    gate = RecordingGate()
    async with running(make_telegram(set_up.api, **given), gate):
        await gate.until(taken=1)
    return gate


async def test_a_file_is_kept_before_its_message_comes() -> None:
    """Its bytes, its name and what it is arrive as they left."""
    async with stage() as set_up:
        await set_up.alice.sends(set_up.dm, "voice", DATA, caption="listen")
        gate = await sent(set_up)

    (file,) = files(gate)
    assert (file.kind, file.size, gate.blobs[file.blob]) == (MediaKind.AUDIO, len(DATA), DATA)
    assert plain_text(gate.taken[0].parts) == "listen"


@pytest.mark.parametrize(
    ("given", "size"),
    [({"download_limit": 9_000}, None), ({}, 30_000_000), ({"download_limit": 9_000}, 5)],
)
async def test_a_file_that_is_too_large_is_named(
    given: dict[str, object], size: int | None
) -> None:
    """Larger than the owner or Telegram allows, or than it said: the words come without it."""
    async with stage() as set_up:
        await set_up.alice.sends(
            set_up.dm, "document", DATA, name="big.bin", caption="look", size=size
        )
        gate = await sent(set_up, **given)

    assert not files(gate)
    assert plain_text(gate.taken[0].parts).startswith(
        "look\n[The file big.bin is missing here: too"
    )


async def test_a_file_that_is_gone_is_named() -> None:
    """Telegram forgets files; the message is not lost for that."""
    async with stage() as set_up:
        await set_up.alice.sends(set_up.dm, "document", DATA, name="old.bin")
        set_up.api.fail(
            400, "wrong file_id or the file is temporarily unavailable", methods="getFile"
        )
        gate = await sent(set_up)

    assert (
        plain_text(gate.taken[0].parts) == "[The file old.bin is missing here: not there any more]"
    )


async def test_a_file_that_fails_is_asked_for_again_before_it_is_given_up() -> None:
    """A fault may pass, so that the message waits; but one file does not stop a bot for ever."""
    async with stage() as set_up:
        telegram, gate = make_telegram(set_up.api), RecordingGate()
        await set_up.alice.sends(set_up.dm, "document", DATA, name="odd.bin")
        set_up.api.fail(502, times=3, methods="getFile")
        for _ in range(2):
            with pytest.raises(PlatformError):
                await telegram.run(gate)
            assert (gate.seen, len(set_up.api.waiting)) == ([], 1)
        async with running(telegram, gate):
            await gate.until(taken=1)

    assert (
        plain_text(gate.taken[0].parts)
        == "[The file odd.bin is missing here: it could not be fetched]"
    )


async def test_a_fault_that_passes_costs_nothing() -> None:
    """The second time the file is there, and comes with its message."""
    async with stage() as set_up:
        telegram, gate = make_telegram(set_up.api), RecordingGate()
        await set_up.alice.sends(set_up.dm, "document", DATA, name="fine.bin")
        set_up.api.drop(methods="getFile")
        with pytest.raises(PlatformError) as raised:
            await telegram.run(gate)
        async with running(telegram, gate):
            await gate.until(taken=1)

    assert [file.name for file in files(gate)] == ["fine.bin"]
    assert set_up.api.token not in repr(raised.getrepr(style="long"))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/pass wd", ".._.._etc_pass wd"),
        ("x" * 400 + ".pdf", "x" * 251 + ".pdf"),
        ("\u202e\0gpj.exe", "gpj.exe"),
        ("ж" * 300, "ж" * 127),
    ],
)
async def test_a_name_is_one_that_can_be_kept(given: str, kept: str) -> None:
    """Whatever somebody calls a file, it is a plain name, and its ending stays."""
    async with stage() as set_up:
        await set_up.alice.sends(set_up.dm, "document", DATA, name=given, media_type="a\nb")
        gate = await sent(set_up)

    (file,) = files(gate)
    assert (file.name, file.media_type) == (kept, "application/octet-stream")


async def test_nothing_is_fetched_for_a_stranger() -> None:
    """Who may not speak costs no traffic and no room; their words come, to be refused."""
    async with stage() as set_up:
        await set_up.alice.sends(set_up.dm, "document", DATA, name="spam.bin", caption="hi")
        gate = RecordingGate()
        gate.reception = ReceiveStatus.REFUSED
        async with running(make_telegram(set_up.api), gate):
            await gate.until(seen=1)

        assert not set_up.api.called("getFile")
    assert not gate.blobs
    assert plain_text(gate.seen[0].parts) == "hi"


async def test_the_token_can_be_checked() -> None:
    """Before anything is served it can be told whose token it is."""
    async with stage() as set_up:
        set_up.api.bot["can_read_all_group_messages"] = False
        told = await make_telegram(set_up.api).check()

    assert told == "The bot is @double_bot. In groups it hears what is said to it."
