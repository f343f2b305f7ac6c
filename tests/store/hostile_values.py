"""What nobody should send: values that cannot be made, and calls that cannot be answered."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from tests.crash.verify import looking
from threadline.core.address import Address, Kind, Sender, address_from, sender_from
from threadline.core.agent import Question
from threadline.core.delivery import SendOutcome
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import (
    Attachment,
    BlobHash,
    MarkerKind,
    MediaKind,
    NewMessage,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    parts_from,
    say,
)
from threadline.core.message import Marker as MarkerPart
from threadline.core.person import Viewer
from threadline.core.session import ModelChoice, SessionId
from threadline.core.session_patch import SessionPatch
from threadline.core.settings import Settings
from threadline.core.turn import Lease, TurnId
from threadline.core.usage import CostStatus, Usage
from threadline.store import Store
from threadline.store.deliveries import DeliveryPayload
from threadline.store.sessions.session_settings import set_summary

NOW = datetime(2026, 5, 1, tzinfo=UTC)
HUGE = 2**70
ENDLESS = 10**5000
NUL, HALF = "a\0b", "a\ud800b"
SQL = "'; DROP TABLE messages; --\"`$1 :id %(id)s ? {0} \\"
PATHS = ("../../etc/passwd", "/etc/passwd", "..", "C:\\con", "a/b", "~root", "%2e%2e%2f")
BAD_IDS: tuple[Any, ...] = (NUL, HALF, "x" * 256, "é" * 128, 7, b"x", [], 1.5, object(), True)
BAD_TEXTS: tuple[Any, ...] = (NUL, HALF, "x" * 10_000_000, 7, b"x", None, ["x"])
BAD_COUNTS: tuple[Any, ...] = (-1, HUGE, ENDLESS, 1.5, "1", None, True, float("nan"))
BAD_MOMENTS: tuple[Any, ...] = (datetime(2026, 5, 1), "2026-05-01", 0, None, NOW.date())

ADDRESS = Address(platform="p", kind=Kind.DM, chat="c")
ME = Sender(id="me")
HASH = BlobHash("0" * 64)


def inbound(**changes: Any) -> Inbound:
    """Make a message with something about it that is not as it should be."""
    values: dict[str, Any] = {"address": ADDRESS, "sender": ME, "parts": (Text(text="x"),)}
    return Inbound(**({"at": NOW} | values | changes))


def address(**changes: Any) -> Address:
    """Make an address in the same way."""
    values: dict[str, Any] = {"platform": "p", "kind": Kind.DM}
    return Address(**(values | changes))


def attachment(**changes: Any) -> Attachment:
    """Make an attachment in the same way."""
    values: dict[str, Any] = {"kind": MediaKind.FILE, "blob": HASH, "media_type": "a/b"}
    return Attachment(**({"size": 1} | values | changes))


def usage(**changes: Any) -> Usage:
    """Make a usage in the same way."""
    return Usage(**({"provider": "p", "model": "m"} | changes))


def made(value: Any, make: Callable[[Any], object]) -> Callable[[], object]:
    """Keep a bad value until something is made of it."""
    return lambda: make(value)


def values() -> Iterator[tuple[str, Callable[[], object]]]:
    """Walk over the values that nobody can make."""
    for bad in BAD_IDS:
        for name in ("platform", "chat", "account", "thread", "alt_chat", "parent", "scope"):
            yield f"address {name}", made({name: bad}, lambda b: address(**b))
        for name in ("id", "alt_id"):
            yield f"sender {name}", made({name: bad}, lambda b: Sender(**b))
        yield "message id", made(bad, lambda b: inbound(message_id=b))
        yield "reply to", made(bad, lambda b: inbound(reply_to=b))
        yield "call id", made(bad, lambda b: ToolCall(id=b, name="n", arguments=""))
        yield "tool name", made(bad, lambda b: ToolCall(id="i", name=b, arguments=""))
        yield "media type", made(bad, lambda b: attachment(media_type=b))
        yield "file name", made(bad, lambda b: attachment(name=b))
        yield "hash", made(bad, lambda b: attachment(blob=b))
        yield "model", made(bad, lambda b: ModelChoice(model=b))
        yield "provider", made(bad, lambda b: usage(provider=b))
    for bad in BAD_TEXTS:
        yield "text", made(bad, lambda b: Text(text=b))
        yield "tool result", made(bad, lambda b: ToolResult(call_id="i", text=b))
        yield "arguments", made(bad, lambda b: ToolCall(id="i", name="n", arguments=b))
        if bad is not None:
            yield "raw text", made(bad, lambda b: Text(text="x", raw=b))
            yield "raw call", made(bad, lambda b: ToolCall(id="i", name="n", arguments="", raw=b))
        yield "reasoning", made(bad, lambda b: Reasoning(text=b))
        yield "marker", made(bad, lambda b: MarkerPart(kind=MarkerKind.FAILED, text=b))
    for bad in BAD_COUNTS:
        yield "version", made(bad, lambda b: inbound(version=b))
        yield "size", made(bad, lambda b: attachment(size=b))
        yield "tokens", made(bad, lambda b: usage(input_tokens=b))
    for bad in BAD_MOMENTS:
        yield "moment", made(bad, lambda b: inbound(at=b))
    for path in (*PATHS, NUL, HALF, 7):
        yield "profile", made(path, lambda b: inbound(profile=b))


def odd_values() -> Iterator[tuple[str, Callable[[], object]]]:
    """Walk over values whose kind or shape is wrong."""
    yield "role", lambda: NewMessage(role="admin", parts=(Text(text="x"),))  # type: ignore[arg-type]
    yield "no parts", lambda: NewMessage(role=Role.USER, parts=())
    yield "strange part", lambda: NewMessage(role=Role.USER, parts=("x",))  # type: ignore[arg-type]
    yield "too many parts", lambda: inbound(parts=(Text(text="x"),) * 257)
    yield "strange inbound part", lambda: inbound(parts=("x",))
    yield "parts that are none", lambda: inbound(parts=7)
    yield "a text as parts", lambda: inbound(parts="x")
    yield "address that is none", lambda: inbound(address="telegram:1")
    yield "sender that is none", lambda: inbound(sender="me")
    yield "inbound kind", lambda: inbound(kind="telepathy", message_id="1")
    yield "observed", lambda: inbound(observed="yes")
    yield "kind", lambda: Address(platform="p", kind="cave")  # type: ignore[arg-type]
    yield "media kind", lambda: attachment(kind="smell")
    yield "marker kind", lambda: MarkerPart(kind="joy", text="x")  # type: ignore[arg-type]
    yield "is_error", lambda: ToolResult(call_id="i", text="x", is_error=[])  # type: ignore[arg-type]
    yield "edit of nothing", lambda: inbound(kind=InboundKind.EDIT)
    yield "bot", lambda: Sender(id="x", is_bot="no")  # type: ignore[arg-type]
    yield "no platform", lambda: address_from({"kind": "dm"})
    yield "no mapping", lambda: sender_from([])  # type: ignore[arg-type]
    yield "parts of JSON", lambda: parts_from([{"type": "text", "text": "x", "evil": 1}])
    yield "part without type", lambda: parts_from([{}])
    yield "part with a list as type", lambda: parts_from([{"type": []}])
    yield "part with a bad kind", lambda: parts_from([{"type": "marker", "kind": [], "text": ""}])
    yield "far away", lambda: inbound(at=datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))))
    for cost in (Decimal(-1), Decimal("NaN"), Decimal("Infinity"), 0.5, "1"):
        yield "cost", made(cost, lambda c: usage(cost=c, cost_status=CostStatus.EXACT))
    yield "cost without status", lambda: usage(cost=Decimal(1))
    yield "cost status", lambda: usage(cost_status="vague")
    for url in ("ftp://x", "https://u:p@x", "https://x/?key=1", "http://[", "javascript:x", NUL):
        yield "base url", made(url, lambda u: ModelChoice(model="m", base_url=u))
    for number in (0, -1, "3", HUGE):
        yield "rules", made(number, lambda n: Settings(max_attempts=n))
        yield "rules", made(number, lambda n: Settings(queue_cap=n))
    yield "lease", lambda: Settings(lease=timedelta(0))
    yield "lease", lambda: Settings(lease=timedelta.max)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A store with one of everything that can be asked for."""

    store: Store
    where: str
    session_id: SessionId
    lease: Lease
    other: Lease
    parcel: DeliveryPayload

    def counts(self) -> dict[str, int]:
        """Count the rows of every table, and what sessions and turns are like."""
        with looking(self.where) as look:
            tables = (
                "addresses senders sessions bindings turns messages revisions arrivals chunks usage"
                " deliveries holds endings blobs blob_chunks blob_uses events early_changes"
            )
            found = {t: look(f"SELECT count(*) FROM {t}")[0][0] for t in tables.split()}
            found["state"] = hash(
                (
                    tuple(look("SELECT id, last_seq, revision, title FROM sessions ORDER BY id")),
                    tuple(look("SELECT id, state, fence, attempts FROM turns ORDER BY id")),
                )
            )
        return {name: int(number or 0) for name, number in found.items()}


Call = Callable[[Scene], Coroutine[Any, Any, object]]


def given(value: Any, call: Callable[[Scene, Any], Coroutine[Any, Any, object]]) -> Call:
    """Keep a bad argument until the call is made."""
    return lambda scene: call(scene, value)


async def _fail_to_send(scene: Scene, why: Any) -> object:
    return await scene.store.deliveries.record_failure(
        scene.parcel.delivery, SendOutcome.REJECTED, why
    )


async def first_of(events: AsyncIterator[object]) -> object:
    """Ask a stream for its first item."""
    return await anext(events)


def forged() -> Iterator[tuple[str, Call]]:
    """Walk over leases that were never given."""
    words = [say(Role.ASSISTANT, "forged")]
    forgeries: dict[str, Callable[[Scene], Lease]] = {
        "fence": lambda s: replace(s.lease, fence=s.lease.fence + 1),
        "fence 0": lambda s: replace(s.lease, fence=0),
        "turn of another": lambda s: replace(s.lease, turn_id=s.other.turn_id),
        "session of another": lambda s: replace(s.lease, session_id=s.other.session_id),
        "no turn": lambda s: replace(s.lease, turn_id=TurnId(10**9)),
        "no session": lambda s: replace(s.lease, session_id=SessionId("20260101_000000_00000000")),
        "huge": lambda s: replace(s.lease, fence=HUGE),
        "words": lambda s: replace(s.lease, turn_id="1; DROP TABLE turns"),
        "half": lambda s: replace(s.lease, session_id=SessionId(HALF)),
    }
    for name, forge in forgeries.items():
        yield f"append, {name}", given(forge, lambda s, f: s.store.turns.append(f(s), words))
        yield f"finish, {name}", given(forge, lambda s, f: s.store.turns.finish(f(s), words))
        yield f"fail, {name}", given(forge, lambda s, f: s.store.turns.fail(f(s), "x"))
        yield (
            f"wait, {name}",
            given(forge, lambda s, f: s.store.turns.wait(f(s), Question(text="x"))),
        )
        yield f"steer, {name}", given(forge, lambda s, f: s.store.turns.take_steering(f(s)))
        yield f"give back, {name}", given(forge, lambda s, f: s.store.turns.give_back(f(s)))


def calls() -> Iterator[tuple[str, Call]]:
    """Walk over calls that cannot be answered."""
    yield from forged()
    bad_sessions: tuple[Any, ...] = (*PATHS, NUL, HALF, "", 7, None, "20260101_000000_0000000g")
    for bad in bad_sessions:
        yield "session", given(bad, lambda s, b: s.store.sessions.get(b))
        yield "transcript", given(bad, lambda s, b: s.store.transcripts.read(b))
        yield (
            "record",
            given(bad, lambda s, b: s.store.transcripts.record(b, [say(Role.USER, "x")])),
        )
        yield "end", given(bad, lambda s, b: s.store.sessions.end(b))
        yield "switch", given(bad, lambda s, b: s.store.sessions.switch(ADDRESS, ME, b))
        yield "snapshot", given(bad, lambda s, b: s.store.sessions.snapshot([b]))
    numbers: tuple[Any, ...] = (0, -1, 10**9, HUGE, "x", None, 1.5, NUL)
    for bad in numbers:
        yield "turn", given(bad, lambda s, b: s.store.turns.get(b))
        yield "stop", given(bad, lambda s, b: s.store.turns.stop(b))
        yield "answer", given(bad, lambda s, b: s.store.turns.answer(b, "yes"))
    for bad in BAD_TEXTS:
        yield (
            "title",
            given(bad, lambda s, b: s.store.sessions.update(s.session_id, SessionPatch(title=b))),
        )
        yield (
            "summary",
            given(bad, lambda s, b: s.store.database.write(set_summary, s.session_id, b)),
        )
        yield "failure", given(bad, lambda s, b: s.store.turns.fail(s.lease, b))
        yield "checkpoint", given(bad, lambda s, b: s.store.turns.checkpoint([(s.lease, b)]))
        yield (
            "send error",
            given(
                bad,
                lambda s, b: s.store.deliveries.record_failure(
                    s.parcel.delivery, SendOutcome.REJECTED, b
                ),
            ),
        )
        if bad is not None:
            yield "new title", given(bad, lambda s, b: s.store.sessions.reset(ADDRESS, ME, title=b))
    for bad in BAD_IDS:
        yield (
            "holder",
            given(
                bad, lambda s, b: s.store.sessions.hold(s.session_id, b, NOW + timedelta(days=9999))
            ),
        )
        yield (
            "platform id",
            given(bad, lambda s, b: s.store.deliveries.record_sent(s.parcel.delivery, b)),
        )
        if bad not in ("x" * 256, "é" * 128):
            yield "route", given(bad, lambda s, b: s.store.sessions.find(b))
        yield "blob", given(bad, lambda s, b: first_of(s.store.attachments.read(b)))
        yield "blob type", given(bad, lambda s, b: s.store.attachments.put(b"x", b, MediaKind.FILE))
    for bad in BAD_MOMENTS[:-2]:
        yield "hold", given(bad, lambda s, b: s.store.sessions.hold(s.session_id, "me", b))
    yield (
        "hold in the past",
        lambda s: s.store.sessions.hold(s.session_id, "me", NOW - timedelta(days=9999)),
    )
    yield from questions()
    yield from odd_calls()


def questions() -> Iterator[tuple[str, Call]]:
    """Walk over what an agent may not ask, keep, or be allowed."""
    for bad in BAD_TEXTS:
        yield "question", given(bad, lambda s, b: s.store.turns.wait(s.lease, Question(text=b)))
        yield "no question", given(bad, lambda s, b: s.store.turns.wait(s.lease, b))
        yield (
            "asked tool",
            given(bad, lambda s, b: s.store.turns.wait(s.lease, Question(text="x", tools=(b,)))),
        )
        yield (
            "asked tools",
            given(bad, lambda s, b: s.store.turns.wait(s.lease, Question(text="x", tools=b))),
        )
        yield "memory", given(bad, lambda s, b: s.store.turns.save_memory(s.lease, b))
    for bad in (*BAD_COUNTS, 10**9):
        yield "allowance", given(bad, lambda s, b: s.store.approvals.revoke_permission(b))
    for bad in (*PATHS, NUL, 7, None):
        yield "spent for", given(bad, lambda s, b: s.store.usage.record(b, []))
        if bad is not None:
            yield "allowed in", given(bad, lambda s, b: s.store.approvals.list_permissions(id=b))


def odd_calls() -> Iterator[tuple[str, Call]]:
    """Walk over calls with arguments of another shape."""
    cursors: tuple[Any, ...] = (
        "", ".", "1", "1.x", "-1.0", "1.2.3", "0." + "9" * 5000, "0.²", "٣.٣", f"0.{HUGE}", NUL,
        HALF, 7, b"0.0", SQL,
    )  # fmt: skip
    for bad in cursors:
        yield "cursor", given(bad, lambda s, b: first_of(s.store.feed.follow(b)))
    for bad in (*BAD_COUNTS, 0):
        yield "page size", given(bad, lambda s, b: s.store.sessions.list(most=b))
        yield "turns", given(bad, lambda s, b: s.store.turns.list(s.session_id, b))
        yield "deliveries", given(bad, lambda s, b: s.store.deliveries.lease(most=b))
        if bad is not None and bad != 0:
            yield (
                "before",
                given(bad, lambda s, b: s.store.transcripts.read(s.session_id, before=b)),
            )
            yield "after", given(bad, lambda s, b: s.store.transcripts.read(s.session_id, after=b))
            yield (
                "around",
                given(bad, lambda s, b: s.store.transcripts.read(s.session_id, around=b)),
            )
            yield (
                "turns before",
                given(bad, lambda s, b: s.store.turns.list(s.session_id, before=b)),
            )
            yield "viewer", given(bad, lambda s, b: s.store.sessions.get(s.session_id, viewer=b))
            yield "rows", given(bad, lambda s, b: s.store.session_rows([b], asker=Viewer.owner()))
    pages: tuple[Any, ...] = ((HUGE, 1), ("x", 1), (1,), 7, (1, None), (-1, 1))
    for bad in pages:
        yield "page", given(bad, lambda s, b: s.store.sessions.list(after=b))
    yield "profile", lambda s: s.store.sessions.reset(ADDRESS, ME, profile="../x")
    yield "profile", lambda s: s.store.sessions.explain(ADDRESS, ME, profile=NUL)
    yield "active", lambda s: s.store.sessions.active(timedelta.max)
    yield "active", lambda s: s.store.sessions.active(7)  # type: ignore[arg-type]
    yield "outcome", lambda s: s.store.deliveries.record_failure(s.parcel.delivery, "odd", "x")  # type: ignore[arg-type]
    yield "reason", lambda s: s.store.sessions.end(s.session_id, "boredom")  # type: ignore[arg-type]
    yield "busy", lambda s: s.store.sessions.update(s.session_id, SessionPatch(busy_mode="lazy"))  # type: ignore[arg-type]
    yield "model", lambda s: s.store.sessions.update(s.session_id, SessionPatch(model="gpt"))  # type: ignore[arg-type]
    yield "blob", lambda s: s.store.attachments.put("x", "a/b", MediaKind.FILE)  # type: ignore[arg-type]
    yield "blob size", lambda s: s.store.attachments.put(bytes(26 * 1024**2), "a/b", MediaKind.FILE)
    yield "no blob", lambda s: s.store.receive(inbound(parts=(attachment(),), message_id="blob"))
    yield "messages", lambda s: s.store.turns.append(s.lease, ["x"])  # type: ignore[list-item]
    yield "messages", lambda s: s.store.transcripts.record(s.session_id, [say(Role.USER, "x"), 7])  # type: ignore[list-item]
    yield "usage", lambda s: s.store.turns.finish(s.lease, usage=[7])  # type: ignore[list-item]
    spent = usage(output_tokens=10**12 + 1)
    yield "tokens", given(spent, lambda s, b: s.store.turns.finish(s.lease, usage=[b]))
    dear = usage(cost=Decimal(10) ** 30, cost_status=CostStatus.EXACT)
    yield "cost", given(dear, lambda s, b: s.store.turns.finish(s.lease, usage=[b]))
    yield "arrival", lambda s: s.store.receive("hello")  # type: ignore[arg-type]
