"""Authors and payers: who wrote a message, who pays for its turn, and where the reply goes."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, BOB, DM, THREAD, Desk, both
from threadline.core.access_level import AccessLevel
from threadline.core.account import Account, AccountRole
from threadline.core.address import Address, Kind, Sender
from threadline.core.agent import Question
from threadline.core.approval import Approval
from threadline.core.budget import SpendCaps
from threadline.core.command import parse_command
from threadline.core.errors import CapReached
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.job import NewJob
from threadline.core.message import Role, Text, say
from threadline.core.person import Viewer
from threadline.core.session import BusyMode, SessionId
from threadline.core.settings import EditMode, Settings
from threadline.core.turn import TurnId
from threadline.core.usage import CostStatus, Usage
from threadline.store import Store
from threadline.store.inbound.deduplication import InboundOutcome
from threadline.store.jobs.jobs import JobChange
from threadline.testing.clock import FakeClock

CALL = Usage(
    provider="openai",
    model="gpt-5",
    input_tokens=1,
    cost=Decimal(1),
    cost_status=CostStatus.EXACT,
)
RULES = Settings(spend=SpendCaps(person_day=Decimal(1)), edits=EditMode.RERUN)
BOBS_DM = Address(platform="telegram", kind=Kind.DM, chat="bob")


@dataclass(kw_only=True)
class Office(Desk):
    """A desk with a cap for each person, an owner and a member of the web app."""

    store: Store
    factory: DatabaseFactory
    clock: FakeClock
    owner: Account
    mia: Account

    def typed(self, text: str, account: Account) -> Inbound:
        """Write something in the web app."""
        return self.inbound(text, account.sender, account.place("t1"))

    async def lines(self, id: SessionId) -> list[str]:
        """Read which messages of people a transcript has."""
        shown = await self.store.transcripts.read(id)
        return [line.text for line in shown if line.role is Role.USER]

    async def line(self, id: SessionId, text: str) -> int:
        """Find the place of a message."""
        shown = await self.store.transcripts.read(id)
        return next(line.seq or 0 for line in shown if line.text == text)

    async def thread(self) -> SessionId:
        """Let Alice ask something in a conversation that she shares with Bob."""
        id, _ = await self.says("one", ALICE, THREAD)
        await self.answers(id)
        return id

    async def spends(self, name: str) -> None:
        """Let a person reach the cap, in a conversation of their own."""
        said = {
            "alice": self.inbound("dear", ALICE, DM),
            "bob": self.inbound("dear", BOB, BOBS_DM),
            "owner": self.typed("dear", self.owner),
            "mia": self.typed("dear", self.mia),
        }[name]
        id = (await self.store.receive(said)).session_id
        claim = await self.store.turns.claim(id)
        assert claim is not None
        await self.store.turns.finish(claim.lease, [say(Role.ASSISTANT, "yes")], usage=[CALL])
        await self.store.sessions.reset(said.address, said.sender)
        while parcels := await self.store.deliveries.lease():
            for parcel in parcels:
                await self.store.deliveries.record_sent(parcel.delivery)

    def payer(self, turn_id: TurnId) -> str:
        """Read who paid for a turn."""
        ((id,),) = self.factory.tamper(
            "SELECT p.id FROM usage u JOIN senders p ON p.key = u.sender_key"
            f" WHERE u.turn_id = {turn_id}"
        )
        return self.name(str(id))

    def name(self, id: str | None) -> str:
        """Name a person by the id of a sender."""
        return "mia" if id == self.mia.sender.id else str(id)


@pytest.fixture
async def office(database_factory: DatabaseFactory) -> Office:
    """Open a store in which a person may spend one dollar a day."""
    clock = FakeClock()
    store = Store(await database_factory(clock=clock), RULES)
    owner = await store.owner_account()
    mia = await store.make_account("mia", AccountRole.MEMBER)
    return Office(store=store, factory=database_factory, clock=clock, owner=owner, mia=mia)


async def a_message(office: Office) -> SessionId:
    """Bob answers in a conversation that Alice began."""
    await office.thread()
    return (await office.says("two", BOB, THREAD))[0]


async def a_question_of_the_owner(office: Office) -> SessionId:
    """The owner asks in Alice's chat, from the web app."""
    id, _ = await office.says("one")
    await office.answers(id)
    await office.store.ask_in(id, office.typed("two", office.owner))
    return id


async def an_edit_of_the_owner(office: Office) -> SessionId:
    """The owner edits Alice's message, in the web app."""
    id = await office.thread()
    by = office.owner.asker()
    return (
        await office.store.transcripts.edit(id, await office.line(id, "one"), "two", by=by)
    ).session.id


async def an_edit_of_the_owners_words(office: Office) -> SessionId:
    """Mia edits what the owner had asked in a conversation of hers."""
    came = await office.store.receive(office.typed("one", office.mia))
    assert came.session_id is not None
    await office.answers(came.session_id)
    await office.store.ask_in(came.session_id, office.typed("pay me", office.owner))
    await office.answers(came.session_id)
    seq = await office.line(came.session_id, "pay me")
    edited = await office.store.transcripts.edit(came.session_id, seq, "two", by=office.mia.asker())
    return edited.session.id


async def an_edit_on_the_platform(office: Office) -> SessionId:
    """Bob edits Alice's message by way of the library, from the chat that they share."""
    id = await office.thread()
    by = Viewer(address=THREAD, sender=BOB)
    return (
        await office.store.transcripts.edit(id, await office.line(id, "one"), "two", by=by)
    ).session.id


async def a_retry(office: Office) -> SessionId:
    """Bob has Alice's question answered again."""
    id = await office.thread()
    await office.asks("/retry", BOB, THREAD)
    return id


async def a_retry_on_screen(office: Office) -> SessionId:
    """The owner has Alice's question answered again, in the web app."""
    id = await office.thread()
    call = parse_command("/retry")
    assert call is not None
    await office.store.command_in(id, office.typed("/retry", office.owner), call, AccessLevel.OWNER)
    return id


async def a_retry_of_a_program(office: Office) -> SessionId:
    """A program that uses the library has Alice's question answered again."""
    id = await office.thread()
    await office.store.transcripts.retry(id)
    return id


async def a_branch(office: Office) -> SessionId:
    """Bob goes on in a branch."""
    await office.thread()
    await office.asks("/branch", BOB, THREAD)
    return (await office.says("two", BOB, THREAD))[0]


async def a_redo(office: Office) -> SessionId:
    """Bob takes Alice's question back, brings it back, and asks something himself."""
    id = await office.thread()
    await office.store.transcripts.undo(id)
    await office.store.transcripts.redo(id)
    return (await office.says("two", BOB, THREAD))[0]


async def a_queued_message(office: Office) -> SessionId:
    """Bob lets something wait for its turn."""
    id = await office.thread()
    await office.asks("/queue two", BOB, THREAD)
    return id


async def a_message_in_the_background(office: Office) -> SessionId:
    """Bob has something done beside the conversation."""
    await office.thread()
    reply = await office.asks("/background two", BOB, THREAD)
    assert reply.turn_id is not None
    return (await office.store.turns.get(reply.turn_id)).session_id


async def a_job(office: Office) -> SessionId:
    """The owner starts a job of Alice."""
    id, _ = await office.says("one")
    await office.answers(id)
    asker = Viewer(address=DM, sender=ALICE)
    job = await office.store.jobs.create(NewJob(prompt="two", schedule="every 1h"), asker)
    started = await office.store.jobs.run(job.id, platforms={"telegram"})
    assert started.turn_id is not None
    return (await office.store.turns.get(started.turn_id)).session_id


async def a_rerun(office: Office) -> SessionId:
    """Alice edits her last message where edits are run again."""
    said = office.inbound("one", ALICE, THREAD)
    id = (await office.store.receive(said)).session_id
    assert id is not None
    await office.answers(id)
    await office.store.receive(changed(said, ALICE, "two"))
    return id


async def an_answer_to_a_question(office: Office) -> SessionId:
    """The owner approves what a turn of Alice asks for."""
    id, turn_id = await office.says("two")
    claim = await office.store.turns.claim(id)
    assert claim is not None
    await office.store.turns.wait(claim.lease, Question(text="May I?"))
    await office.store.approvals.decide(Viewer.owner(), turn_id, Approval.APPROVED)
    return id


async def a_steering_message(office: Office) -> SessionId:
    """Bob steers a turn that Alice pays for: it is a turn of his own, after hers."""
    id, _ = await office.says("one", ALICE, THREAD)
    claim = await office.store.turns.claim(id)
    assert claim is not None
    office.store.rules = replace(RULES, busy=BusyMode.STEER)
    await office.says("two", BOB, THREAD)
    before, last = await office.store.turns.take_steering(claim.lease)
    assert before == last
    await office.store.turns.finish(claim.lease, [say(Role.ASSISTANT, "yes")])
    return id


async def a_collected_message(office: Office) -> SessionId:
    """Bob's message does not become part of a turn that Alice pays for."""
    id, _ = await office.says("one", ALICE, THREAD)
    office.store.rules = replace(RULES, busy=BusyMode.COLLECT)
    await office.says("two", BOB, THREAD)
    await office.answers(id)
    return id


async def a_job_with_another_prompt(office: Office) -> SessionId:
    """The owner writes another prompt for a job of Alice, and starts it."""
    id, _ = await office.says("one")
    await office.answers(id)
    made = Viewer(address=DM, sender=ALICE)
    job = await office.store.jobs.create(NewJob(prompt="dear", schedule="every 1h"), made)
    by = replace(office.owner.asker(), sees_all=True)
    await office.store.jobs.update(job.id, JobChange(prompt="two"), by)
    started = await office.store.jobs.run(job.id, platforms={"telegram"})
    assert started.turn_id is not None
    return (await office.store.turns.get(started.turn_id)).session_id


Write = Callable[[Office], Awaitable[SessionId]]
IN_THREAD, IN_DM = [("telegram", "100")], [("telegram", "alice")]
NOWHERE: list[tuple[str, str]] = []
WRITES: list[tuple[Write, str, str, list[tuple[str, str]]]] = [
    # the write, the author of the last message, the payer, and where the reply goes
    (a_message, "bob", "bob", IN_THREAD),
    (a_question_of_the_owner, "owner", "owner", IN_DM),
    (an_edit_of_the_owner, "owner", "owner", NOWHERE),
    (an_edit_of_the_owners_words, "mia", "mia", NOWHERE),
    (an_edit_on_the_platform, "bob", "bob", IN_THREAD),
    (a_retry, "alice", "bob", IN_THREAD),
    (a_retry_on_screen, "alice", "owner", IN_THREAD),
    (a_retry_of_a_program, "alice", "alice", IN_THREAD),
    (a_branch, "bob", "bob", IN_THREAD),
    (a_redo, "bob", "bob", IN_THREAD),
    (a_queued_message, "bob", "bob", IN_THREAD),
    (a_message_in_the_background, "bob", "bob", IN_THREAD),
    (a_job, "alice", "alice", IN_DM),
    (a_job_with_another_prompt, "owner", "owner", IN_DM),
    (a_rerun, "alice", "alice", IN_THREAD),
    (an_answer_to_a_question, "alice", "alice", IN_DM),
    (a_steering_message, "bob", "bob", IN_THREAD),
    (a_collected_message, "bob", "bob", IN_THREAD),
]
CASES = pytest.mark.parametrize(
    ("write", "author", "payer", "goes_to"), WRITES, ids=[case[0].__name__ for case in WRITES]
)


@both
@CASES
async def test_every_write_has_its_author_and_its_payer(
    office: Office, write: Write, author: str, payer: str, goes_to: list[tuple[str, str]]
) -> None:
    """The author is who wrote the words, and who asked pays, even if all others are at the cap."""
    for name in sorted({"alice", "bob", "owner", "mia"} - {payer}):
        await office.spends(name)
    id = await write(office)
    while parcels := await office.store.deliveries.lease():
        for parcel in parcels:
            await office.store.deliveries.record_sent(parcel.delivery)

    claim = await office.store.turns.claim(id)
    assert claim is not None
    await office.store.usage.approve(claim.lease)
    await office.store.turns.finish(claim.lease, [say(Role.ASSISTANT, "done")], usage=[CALL])

    spoken = [line for line in await office.store.transcripts.read(id) if line.role is Role.USER]
    places = [parcel.delivery.address for parcel in await office.store.deliveries.lease()]
    assert office.name(spoken[-1].sender_id) == author
    assert office.payer(claim.turn.id) == payer
    assert [(to.platform, to.chat) for to in places] == goes_to
    assert await office.store.turns.claim() is None


@both
@CASES
async def test_the_cap_of_the_payer_is_asked(
    office: Office, write: Write, author: str, payer: str, goes_to: list[tuple[str, str]]
) -> None:
    """A write whose payer has reached the cap is refused before anything is called."""
    assert author
    assert len(goes_to) <= 1
    await office.spends(payer)
    claim = await office.store.turns.claim(await write(office))
    assert claim is not None

    with pytest.raises(CapReached):
        await office.store.usage.approve(claim.lease)


@both
async def test_a_member_cannot_edit_the_message_of_another_on_a_platform(office: Office) -> None:
    """An edit that another sender makes changes nothing, whether it comes late or early."""
    said, later = office.inbound("one", ALICE, THREAD), office.inbound("more", ALICE, THREAD)
    early = await office.store.receive(changed(later, BOB, "forged"))
    id = (await office.store.receive(said)).session_id
    assert id is not None
    await office.store.receive(later)
    late = await office.store.receive(changed(said, BOB, "forged"))
    await office.answers(id)
    await office.answers(id)
    own = await office.store.receive(changed(said, ALICE, "first", 2))

    assert (early.outcome, late.outcome) == (InboundOutcome.EARLY, InboundOutcome.IGNORED)
    assert own.outcome is InboundOutcome.CHANGED
    assert await office.lines(id) == ["first", "more"]


@both
async def test_an_answer_in_the_agents_place_has_its_author_and_costs_nothing(
    office: Office,
) -> None:
    """What an operator says is stored under their name, is sent to the chat, and runs no turn."""
    id, _ = await office.says("one")
    await office.answers(id)
    office.clock.advance(timedelta(seconds=1))
    await office.store.answer_into(id, office.owner.sender, (Text(text="by hand"),), "w1")

    line = (await office.store.transcripts.read(id))[-1]
    assert (line.role, line.sender_id) == (Role.ASSISTANT, "owner")
    assert await office.store.turns.claim() is None
    assert office.factory.tamper("SELECT key FROM usage") == []


@both
async def test_messages_join_and_steer_turns_of_others_where_no_person_has_a_cap(
    database_factory: DatabaseFactory,
) -> None:
    """Without a cap per person, collected messages of several people are one turn."""
    clock = FakeClock()
    store = Store(await database_factory(clock=clock), Settings(busy=BusyMode.COLLECT))
    desk = Desk(store, database_factory, clock)

    assert await desk.says("one", ALICE, THREAD) == await desk.says("two", BOB, THREAD)


def changed(said: Inbound, sender: Sender, text: str, version: int = 1) -> Inbound:
    """Edit a message, as a platform reports it."""
    return Inbound(
        address=said.address,
        sender=sender,
        kind=InboundKind.EDIT,
        message_id=said.message_id,
        version=version,
        parts=(Text(text=text),),
        at=said.at + timedelta(seconds=1),
    )
