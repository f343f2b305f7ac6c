"""Attachments over HTTP: typed by content, seen by few, and harmless to whoever opens them."""

import hashlib
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.web.resources.callers import Callers, calling
from threadline.core.message import Attachment, BlobHash, MediaKind
from threadline.store import Store
from threadline.store.blobs import BLOB_LIMIT
from threadline.testing.clock import FakeClock
from threadline.web.content_disposition import clean_name, disposition
from threadline.web.mime import sniff
from threadline.web.ranges import NoSuchRange, read_range
from threadline.web.resources import attachments

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 24
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PAGE = b"<!doctype html><script>alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'


async def upload(client: httpx.AsyncClient, data: bytes, name: str = "a.bin") -> dict[str, str]:
    """Upload a file, and answer what was said of it."""
    answer = await client.post("/api/attachments", params={"name": name}, content=data)
    assert answer.status_code == 201, answer.text
    told: dict[str, str] = answer.json()
    return told


async def shown(call: Callers, who: str, told: dict[str, str]) -> str:
    """Let somebody send what they uploaded; answer where it is found."""
    file = Attachment(
        kind=MediaKind(told["kind"]),
        blob=BlobHash(told["blob"]),
        media_type=told["media_type"],
        size=int(told["size"]),
        name=told["name"],
    )
    session = await call.talk(who, "look", file)
    return f"/api/attachments/{file.blob}?session={session}"


@on(FAST, POSTGRES)
async def test_a_file_goes_in_and_comes_out_again(store: Store) -> None:
    """Larger than one piece of the database, byte for byte."""
    data = PNG + bytes(range(256)) * 2400
    async with calling(store) as call:
        told = await upload(call.member, data, "cat.png")
        assert (told["media_type"], told["kind"]) == ("image/png", "image")
        assert told["blob"] == hashlib.sha256(data).hexdigest()
        path = await shown(call, "member", told)
        answer = await call.member.get(path)
        assert answer.content == data
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["content-disposition"].startswith('inline; filename="cat.png"')


@on(FAST)
async def test_what_was_uploaded_is_sent_by_its_ticket(store: Store) -> None:
    """The message shows it as its content is; somebody else's ticket sends nothing."""
    async with calling(store) as call:
        told = await upload(call.member, PNG, "cat.html")
        wish = {"text": "look", "attachments": [told["ticket"]]}
        assert (await call.other.post("/api/sessions", json=wish)).status_code == 404
        made = await call.member.post("/api/sessions", json=wish)
        assert made.status_code == 201, made.text
        path = f"/api/attachments/{told['blob']}?session={made.json()['session_id']}"
        answer = await call.member.get(path)
        assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
        assert (await call.other.get(path)).status_code == 404


@on(FAST)
async def test_only_who_sees_the_message_sees_the_file(store: Store) -> None:
    """Nor does another session of theirs show it, nor knowing its hash."""
    async with calling(store) as call:
        path = await shown(call, "member", await upload(call.member, PNG))
        bare = path.partition("?")[0]
        elsewhere = await call.talk("other")
        assert (await call.member.get(path)).status_code == 200
        assert (await call.owner.get(path)).status_code == 200
        assert (await call.other.get(path)).status_code == 404
        assert (await call.other.get(f"{bare}?session={elsewhere}")).status_code == 404
        assert (await call.owner.get(f"{bare}?session={elsewhere}")).status_code == 404
        assert (await call.other.get(bare)).status_code == 422
        assert (await call.nobody.get(path)).status_code == 401


@on(FAST)
async def test_a_ticket_is_for_whoever_uploaded(open_store: OpenStore) -> None:
    """For a day, and not for a file that it does not name; a changed one is worth nothing."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    async with calling(store) as call:
        told = await upload(call.member, PNG)
        another = await upload(call.member, PNG + b"!")
        path, ticket = f"/api/attachments/{told['blob']}", told["ticket"]

        async def ask(client: httpx.AsyncClient, shown: str) -> int:
            return (await client.get(path, params={"ticket": shown})).status_code

        assert await ask(call.member, ticket) == 200
        assert await ask(call.other, ticket) == 404
        assert await ask(call.owner, ticket) == 404
        for odd in (another["ticket"], ticket[:-1], "x" + ticket, "", ".", "a.b", "é.é"):
            assert await ask(call.member, odd) == 404, odd
        clock.advance(timedelta(hours=25))
        assert await ask(call.member, ticket) == 404


@on(FAST)
async def test_what_could_run_is_saved_and_not_shown(store: Store) -> None:
    """Whatever it is called, and whatever a message says that it is."""
    files = {
        "a.html": (PAGE, "text/plain"),
        "cat.png": (PAGE, "text/plain"),
        "a.svg": (SVG, "text/plain"),
        "a.pdf": (b"%PDF-1.7", "application/pdf"),
        "z": (b"PK\3\4", "application/zip"),
    }
    async with calling(store) as call:
        for name, (data, media_type) in files.items():
            told = await upload(call.member, data, name)
            path = await shown(call, "member", {**told, "media_type": "text/html", "size": "1"})
            answer = await call.member.get(path)
            assert answer.content == data
            assert answer.headers["content-type"].partition(";")[0] == media_type
            assert answer.headers["content-disposition"].startswith("attachment")
            assert "sandbox" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"


@on(FAST)
async def test_pieces_and_what_is_known_already(store: Store) -> None:
    """A range gives that piece, a tag that is known gives nothing, and one outside is refused."""
    data = PNG + bytes(range(256)) * 2400
    async with calling(store) as call:
        path = await shown(call, "member", await upload(call.member, data))
        for wanted, piece in (
            ("bytes=0-0", data[:1]),
            ("bytes=262140-262150", data[262140:262151]),
            ("bytes=600000-", data[600000:]),
            ("bytes=-5", data[-5:]),
            ("bytes=5-99999999", data[5:]),
        ):
            answer = await call.member.get(path, headers={"Range": wanted})
            assert (answer.status_code, answer.content) == (206, piece)
            assert answer.headers["content-range"].endswith(f"/{len(data)}")
        for odd in ("bytes=9-2", "bytes=0-1,4-5", "lines=1-2", "bytes=-", "x" * 150):
            answer = await call.member.get(path, headers={"Range": odd})
            assert (answer.status_code, len(answer.content)) == (200, len(data)), odd
        beyond = await call.member.get(path, headers={"Range": "bytes=99999999-"})
        told = (beyond.status_code, beyond.headers["content-range"])
        assert told == (416, f"bytes */{len(data)}")
        tag = (await call.member.get(path)).headers["etag"]
        known = await call.member.get(path, headers={"If-None-Match": tag})
        assert (known.status_code, known.content) == (304, b"")


@on(FAST)
async def test_a_file_may_not_be_too_large_nor_empty(store: Store) -> None:
    """One byte too many is refused while it comes in, whether it tells its length or not."""

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(BLOB_LIMIT // 1_048_576 + 1):
            yield b"x" * 1_048_576

    async with calling(store) as call:
        large = await call.member.post("/api/attachments", content=b"x" * (BLOB_LIMIT + 1))
        unknown = await call.member.post("/api/attachments", content=pieces())
        empty = await call.member.post("/api/attachments", content=b"")
        assert [one.status_code for one in (large, unknown, empty)] == [413, 413, 422]
        assert (await call.reader.post("/api/attachments", content=PNG)).status_code == 403
        assert (await call.nobody.post("/api/attachments", content=PNG)).status_code == 401


@on(FAST)
async def test_an_upload_that_breaks_off_leaves_nothing(store: Store) -> None:
    """Nothing is kept under the hash of what had come."""
    async with calling(store) as call:
        assert await call.break_off("/api/attachments", PNG) == 422
        assert await store.blob_size(BlobHash(hashlib.sha256(PNG).hexdigest())) is None


@on(FAST)
async def test_the_same_file_twice_is_one(store: Store) -> None:
    """By whomever and under whatever name."""
    async with calling(store) as call:
        one = await upload(call.member, PNG, "a.png")
        two = await upload(call.other, PNG, "b.png")
        assert one["blob"] == two["blob"]
        assert (one["name"], two["name"]) == ("a.png", "b.png")


@on(FAST)
async def test_nobody_uploads_without_end(store: Store) -> None:
    """After many at once one has to wait, and is told for how long; others need not."""
    async with calling(store) as call:
        for _ in range(attachments.UPLOAD_RATE.burst):
            answer = await call.member.post("/api/attachments", content=b"")
            assert answer.status_code == 422
        late = await call.member.post("/api/attachments", content=PNG)
        assert (late.status_code, int(late.headers["retry-after"]) >= 1) == (429, True)
        await upload(call.other, PNG)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\boot.ini", "boot.ini"),
        ("a\r\nSet-Cookie: x=1", "a Set-Cookie: x=1"),
        ("..", None),
        ("\u202egpj.exe", "gpj.exe"),
        ("", None),
        (None, None),
        ("é" * 400, "é" * 120),
    ],
)
def test_names_have_no_folders_and_nothing_unseen(written: str | None, kept: str | None) -> None:
    """What is left of a name can be shown and kept."""
    assert clean_name(written) == kept


@pytest.mark.parametrize(
    "name",
    ['a"; filename=b.exe', "x\r\nLocation: http://evil", "名前.png", "a;b", "\ud800", "%0d%0a"],
)
def test_a_name_cannot_break_out_of_its_header(name: str) -> None:
    """It stays one line of ASCII, and ends no quotation."""
    written = disposition(name)
    assert written.isascii()
    assert written.isprintable()
    assert written.count('"') in {0, 2}


@pytest.mark.parametrize(
    ("head", "name", "found"),
    [
        (b"\xff\xd8\xff\xe0", None, "image/jpeg"),
        (b"GIF89a", None, "image/gif"),
        (b"RIFF\0\0\0\0WEBP", None, "image/webp"),
        (b"RIFF\0\0\0\0WAVE", None, "audio/wav"),
        (b"RIFF\0\0\0\0AVI ", None, "application/octet-stream"),
        (b"ID3\4", None, "audio/mpeg"),
        (b"\xff\xfb\x90", None, "audio/mpeg"),
        (b"OggS", None, "audio/ogg"),
        (b"\0\0\0\x20ftypM4A ", None, "audio/mp4"),
        (b"\0\0\0\x20ftypisom", None, "video/mp4"),
        (b"PK\3\4", "a.docx", DOCX),
        (b"PK\3\4", "a.png", "application/zip"),
        (b"a,b", "t.csv", "text/csv"),
        (b"<html>", "t.html", "text/plain"),
        ("é".encode() * 600, None, "text/plain"),
        (b"\xc3" * 10, None, "application/octet-stream"),
        (b"\0", "a.txt", "application/octet-stream"),
    ],
)
def test_files_are_known_by_their_first_bytes(head: bytes, name: str | None, found: str) -> None:
    """The name decides only among texts and among archives."""
    assert sniff(head, name) == found


def test_a_range_of_a_file_is_read_once() -> None:
    """What lies outside is refused, and what is no range means all of it."""
    assert read_range("bytes=1-2", 3).length == 2
    assert not read_range(None, 3).is_part
    assert not read_range("bytes=" + "9" * 40 + "-", 3).is_part
    with pytest.raises(NoSuchRange):
        read_range("bytes=3-", 3)
