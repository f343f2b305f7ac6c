"""The local platform: what is sent becomes a file, once, where it belongs and nowhere else."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from threadline.core.address import Address, Kind
from threadline.core.delivery import SendOutcome, output_mark, output_pattern
from threadline.core.message import Attachment, BlobHash, MediaKind
from threadline.core.platform import Outgoing, SendFailed
from threadline.core.target import output_address
from threadline.platforms.local import Local

NINE = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FILE = Attachment(
    kind=MediaKind.FILE,
    blob=BlobHash("a" * 64),
    media_type="text/plain",
    size=3,
    name="../../../etc/pass wd.txt",
)


async def read_blob(hash: BlobHash) -> AsyncIterator[bytes]:
    """Bring three bytes in two pieces."""
    assert hash == FILE.blob
    yield b"ab"
    yield b"c"


def outgoing(text: str = "Rain.", key: str = "delivery 1", *, profile: str = "main") -> Outgoing:
    """Make a message for the folder of a profile."""
    return Outgoing(address=output_address(profile), text=text, key=key)


async def test_words_become_a_file(tmp_path: Path) -> None:
    """What is sent stands in a file that only its owner can read, in a folder of the same kind."""
    local = Local(tmp_path / "output", clock=lambda: NINE)
    name = await local.send(outgoing(profile="work"), read_blob)

    assert name is not None
    assert name.startswith("20260302-090000-")
    path = tmp_path / "output" / "work" / name
    assert path.read_text() == "Rain.\n"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


async def test_the_same_message_is_written_once(tmp_path: Path) -> None:
    """Sent again under its key, also later and by another process, it changes nothing."""
    first = await Local(tmp_path, clock=lambda: NINE).send(outgoing(), read_blob)
    later = Local(tmp_path, clock=lambda: NINE.replace(hour=10))
    again = await later.send(outgoing("Sun."), read_blob)
    other = await later.send(outgoing("Sun.", key="delivery 2"), read_blob)

    assert again == first != other
    files = sorted(path.read_text() for path in (tmp_path / "main").iterdir())
    assert files == ["Rain.\n", "Sun.\n"]


async def test_at_once_is_once(tmp_path: Path) -> None:
    """Two who write the same message at the same moment leave one whole file."""
    local = Local(tmp_path, clock=lambda: NINE)
    await asyncio.gather(*(local.send(outgoing("x" * 100_000), read_blob) for _ in range(4)))

    (path,) = (tmp_path / "main").iterdir()
    assert path.stat().st_size == 100_001


async def test_attachments_stay_in_the_folder(tmp_path: Path) -> None:
    """A file that is attached lies beside, and its name leads nowhere else."""
    local = Local(tmp_path / "output", clock=lambda: NINE)
    sent = Outgoing(address=output_address("main"), attachments=(FILE,), key="1")
    name = await local.send(sent, read_blob)

    (path,) = (tmp_path / "output" / "main").iterdir()
    assert (path.name, path.read_bytes()) == (name, b"abc")
    assert path.name.endswith("-1-etc_pass_wd.txt")


@pytest.mark.parametrize("profile", ["..", "a/b", "", "/etc", "x" * 100])
async def test_no_address_leads_out_of_the_folder(tmp_path: Path, profile: str) -> None:
    """An address that names no profile reaches nobody."""
    address = Address(platform="local", kind=Kind.CHANNEL, chat=profile)
    with pytest.raises(SendFailed) as failed:
        await Local(tmp_path).send(Outgoing(address=address, text="?", key="1"), read_blob)

    assert failed.value.outcome is SendOutcome.DEAD
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """Where no file can be made, the message is owed on."""
    (tmp_path / "main").write_text("in the way")
    with pytest.raises(SendFailed, match="cannot be written") as failed:
        await Local(tmp_path).send(outgoing(), read_blob)

    assert failed.value.outcome is SendOutcome.REJECTED


async def test_a_crash_leaves_no_half_file(tmp_path: Path) -> None:
    """What a writer left behind that died is not taken for the message."""
    local = Local(tmp_path, clock=lambda: NINE)
    name = await local.send(outgoing(), read_blob)
    assert name is not None
    path = tmp_path / "main" / name
    path.rename(path.with_name(f".{name}.999.part"))
    again = await local.send(outgoing(), read_blob)

    assert again == name
    assert path.read_text() == "Rain.\n"


async def test_nobody_writes_from_there() -> None:
    """It takes what is sent and says so; a file is not edited."""
    local = Local(Path("unused"))

    assert local.name == "local"
    assert not local.capabilities.receives
    with pytest.raises(SendFailed):
        await local.edit(output_address("main"), "1", "?")


async def test_the_name_of_an_attachment_stands_for_no_other_message(tmp_path: Path) -> None:
    """A file that is named after a later message neither replaces it nor is deleted with it."""
    local = Local(tmp_path, clock=lambda: NINE)
    mark = output_mark("delivery 2")
    posing = replace(FILE, name=f"x-{mark}.md")
    await local.send(replace(outgoing(), attachments=(posing,)), read_blob)
    name = await local.send(outgoing("Sun.", key="delivery 2"), read_blob)

    assert name == f"20260302-090000-{mark}.md"
    assert (tmp_path / "main" / name).read_text() == "Sun.\n"
    found = [path.name for path in (tmp_path / "main").glob(output_pattern(mark))]
    assert found == [name]
