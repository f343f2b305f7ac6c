"""A store with a bit of everything in it, and ways to carry it elsewhere."""

from collections.abc import AsyncIterator, Callable, Iterable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from tests.databases import POSTGRES, PostgresFactory, Server, SqliteFactory
from threadline.core.address import Address, Kind, Sender
from threadline.core.export_format.file_records import ExportScope, Selection
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import (
    MediaKind,
    NewMessage,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    say,
)
from threadline.core.person import Identity
from threadline.core.project import ProjectColor
from threadline.core.session import BusyMode, ModelChoice, SessionId, Worktree
from threadline.core.session_patch import SessionPatch
from threadline.core.usage import CostStatus, Usage
from threadline.store import Store
from threadline.store.sessions.session_settings import set_summary, set_worktree
from threadline.testing.clock import FakeClock

ALL = Selection(extent=ExportScope.ALL)
ALICE = Sender(id="alice", name="Alice")
ALICE_AGAIN = Sender(id="4917012345", name="Alice P.")
BOB = Sender(id="bob", name="Bob")
DM = Address(platform="telegram", kind=Kind.DM, chat="alice", chat_name="Alice")
PHONE = Address(platform="whatsapp", kind=Kind.DM, chat="4917012345")
BOBS = Address(platform="telegram", kind=Kind.DM, chat="bob")
THREAD = Address(
    platform="discord", kind=Kind.THREAD, chat="42", thread="7", scope="guild", topic="Plans"
)


def one_after_another(first: int = 1) -> Callable[[], int]:
    """Make ids that are the same in every run."""
    numbers = iter(range(first, 1 << 30))
    return lambda: next(numbers)


async def tell(store: Store, text: str, **fields: object) -> SessionId:
    """Say something, as Alice in her dm unless told otherwise; answer where it went."""
    given = {"address": DM, "sender": ALICE, "at": store.now(), "parts": (Text(text=text),)}
    arrival = await store.receive(Inbound(**{**given, **fields}))  # type: ignore[arg-type]
    assert arrival.session_id is not None
    return arrival.session_id


async def answer(store: Store, *messages: NewMessage, cost: str | None = None) -> None:
    """Answer the turn that has waited longest."""
    claim = await store.turns.claim()
    assert claim is not None
    usage = Usage(
        provider="acme",
        model="large",
        input_tokens=11,
        output_tokens=7,
        cost=None if cost is None else Decimal(cost),
        cost_status=CostStatus.UNKNOWN if cost is None else CostStatus.EXACT,
    )
    await store.turns.finish(claim.lease, messages or [say(Role.ASSISTANT, "ok")], usage=[usage])


async def live(store: Store, clock: FakeClock) -> SessionId:
    """Let a store have a bit of everything; answer the session in which most happened."""
    photo = await store.attachments.put(
        b"\x89PNG" + bytes(range(256)) * 1200, "image/png", MediaKind.IMAGE
    )
    note = await store.attachments.put(b"", "text/plain", MediaKind.FILE, "empty.txt")
    main = await tell(store, "first words", message_id="1")
    await answer(
        store,
        NewMessage(
            role=Role.ASSISTANT,
            parts=(
                Reasoning(text="hm", raw='{"sig": "x"}'),
                ToolCall(id="c1", name="look", arguments='{"a": 1}', raw='{"item": "c-1"}'),
                Text(text="one moment", raw='{"item": "t-1"}'),
            ),
        ),
        NewMessage(role=Role.TOOL, parts=(ToolResult(call_id="c1", text="seen", is_error=True),)),
        say(Role.ASSISTANT, "there you are\u2028 ```\n<script>"),
        cost="0.000000123",
    )
    clock.advance(timedelta(minutes=1, microseconds=7))
    await tell(store, "look at this", message_id="2", parts=(Text(text="look"), photo, note))
    await answer(store)
    await tell(store, "corrected words", message_id="1", kind=InboundKind.EDIT, version=1)
    await tell(store, "third")
    await answer(store)
    early = await store.transcripts.branch(main, at=4, title="Another way")
    await tell(store, "corrected again", message_id="1", kind=InboundKind.EDIT, version=2)
    await tell(store, "", message_id="2", kind=InboundKind.DELETION, version=2)
    clock.advance(timedelta(hours=1))
    await store.transcripts.compact(main, "They greeted each other.", keep=1)
    await store.transcripts.undo(main)
    late = await store.transcripts.branch(main)
    await store.transcripts.branch(early.id, at=2)
    await store.transcripts.redo(main)
    await decorate(store, main, late.id)
    await meet(store, clock)
    return main


async def decorate(store: Store, main: SessionId, late: SessionId) -> None:
    """Give sessions everything that can be chosen for them."""
    project = await store.make_project("Garden", ProjectColor.GREEN)
    await store.make_project("Empty", ProjectColor.RED)
    await store.move([main, late], project.key)
    await store.pin([main])
    await store.archive([late])
    await store.sessions.update(main, SessionPatch(title="Ünïcode 🌱 title"))
    await store.database.write(set_summary, main, "What it was about")
    await store.sessions.update(
        main, SessionPatch(model=ModelChoice(model="m", base_url="https://host/v1"))
    )
    await store.sessions.update(main, SessionPatch(busy_mode=BusyMode.COLLECT))
    await store.sessions.update(main, SessionPatch(personality="dry"))
    await store.sessions.update(main, SessionPatch(tools=()))
    await store.sessions.update(late, SessionPatch(tools=("look", "go")))
    await store.sessions.update(main, SessionPatch(workspace="/srv/code"))
    tree = Worktree(path="/srv/tree", branch="b", repository="/srv/repo", at=store.now())
    await store.database.write(set_worktree, main, tree)
    await store.mark_read(main, "owner", seq=2)
    await store.mark_read(main, "Zoe", seq=1)


async def meet(store: Store, clock: FakeClock) -> None:
    """Let other people speak: linked ones, a group, one whose turn runs and one who waits."""
    await tell(store, "from my phone", address=PHONE, sender=ALICE_AGAIN)
    await answer(store)
    await store.join(
        Identity(platform="telegram", id="alice"), Identity(platform="whatsapp", id="4917012345")
    )
    await store.people.learn_alias("whatsapp", "99@lid", "4917012345")
    shared = await tell(store, "in the thread", address=THREAD, sender=BOB)
    await answer(store)
    await tell(store, "me too", address=THREAD, sender=ALICE)
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.fail(claim.lease, "The model was away")
    await store.sessions.reset(THREAD, BOB, title="A new one")
    await store.sessions.end(shared)
    clock.advance(timedelta(minutes=3))
    await tell(store, "old", address=BOBS, sender=BOB)
    await answer(store)
    await store.sessions.reset(BOBS, BOB)
    await tell(store, "is running", address=BOBS, sender=BOB, profile="main")
    assert await store.turns.claim() is not None
    await tell(store, "waits", address=BOBS, sender=BOB, message_id="w")
    await tell(store, "waits, corrected", address=BOBS, sender=BOB, message_id="w",
               kind=InboundKind.EDIT, version=1)  # fmt: skip
    await tell(store, "elsewhere", address=BOBS, sender=BOB, profile="other")


async def export(store: Store, selection: Selection = ALL, *, redact: bool = False) -> bytes:
    """Write an export as one piece."""
    blocks = [block async for block in store.transfer.export_history(selection, redact=redact)]
    return b"".join(blocks)


async def chunks(data: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    """Read a file in small chunks, which end anywhere."""
    for at in range(0, len(data), size):
        yield data[at : at + size]


def lines_of(data: bytes) -> list[bytes]:
    """Take a file apart."""
    return data.splitlines(keepends=True)


def joined(lines: Iterable[bytes]) -> bytes:
    """Put lines together as a file."""
    return b"".join(lines)


class Elsewhere:
    """Opens fresh stores besides the one under test, on either database."""

    def __init__(self, folder: Path, server: Callable[[], Server]) -> None:
        self._folder = folder
        self._server = server
        self._factories: list[SqliteFactory | PostgresFactory] = []

    async def open(self, kind: str) -> Store:
        """Open a fresh store."""
        factory: SqliteFactory | PostgresFactory
        if kind == POSTGRES:
            factory = PostgresFactory(self._server())
        else:
            folder = self._folder / f"elsewhere-{len(self._factories)}"
            folder.mkdir()
            factory = SqliteFactory(kind, folder)
        self._factories.append(factory)
        return Store(await factory(clock=FakeClock()), new_id=one_after_another(5000))

    async def close(self) -> list[str]:
        """Close all of them; answer what is still open."""
        left = []
        for factory in self._factories:
            await factory.close()
            left += factory.leftovers()
        return left
