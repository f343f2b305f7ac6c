"""Every operation that changes something × whoever follows: old snapshot + events == new one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.web.resources.conftest import Template
from tests.web.resources.feed_followers import Watch
from tests.web.resources.operation_calls import ask_as
from tests.web.resources.sample_store import Caller, Household, move_in, read_places
from tests.web.resources.table import OK, TABLE
from threadline.core.gateway_status import PlatformState
from threadline.gateway.gateway import Gateway
from threadline.store import Store
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.stream_checker import StreamWitness, verify_feed


@dataclass(frozen=True, slots=True)
class Heard:
    """The kinds of events that an operation leads to: what the owner is told, and the member."""

    owner: str = ""
    member: str = ""
    is_lost: bool = False
    """Whether the member loads anew: nobody can say any more whose it was that is gone."""


NOTHING = Heard()
"""Nobody sees a change by it: it looks, is refused, finds nothing to do, or is one's own draft."""
ACCOUNT = Heard("account.changed audit.noted", "account.changed")
"""It is the member's."""
ANOTHER = Heard("account.changed audit.noted")
PERSON = Heard("audit.noted person.changed")
ACCESS = Heard("access.changed audit.noted")
JOB = Heard("job.changed", "job.changed")
PROJECT = Heard("project.changed")
SETTINGS = Heard("audit.noted settings.changed")
SHARE = Heard("audit.noted share.changed", "share.changed")


def _both(kinds: str) -> Heard:
    return Heard(kinds, kinds)


CHANGED = _both("session.changed")
STOPPED = _both("message.added turn.stopped")

TOLD = {
    "log_in_by_password": Heard("audit.noted"),
    "ask_passkey": NOTHING,
    "log_in_by_passkey": NOTHING,
    "log_out": ACCOUNT,
    "prove_by_password": Heard("audit.noted"),
    "ask_proof": NOTHING,
    "prove_by_passkey": NOTHING,
    "set_password": ACCOUNT,
    "ask_new_passkey": NOTHING,
    "add_passkey": NOTHING,
    "delete_passkey": ACCOUNT,
    "end_other_logins": NOTHING,
    "end_login": ACCOUNT,
    "make_token": ACCOUNT,
    "end_token": ACCOUNT,
    "make_account": ANOTHER,
    "rename_account": ACCOUNT,
    "end_account": ANOTHER,
    "make_login_link": Heard("audit.noted"),
    "drop_password": ACCOUNT,
    "end_logins_of": ACCOUNT,
    "plan_forgetting_person": NOTHING,
    "forget_person": Heard("audit.noted person.changed session.forgotten", is_lost=True),
    "join_senders": PERSON,
    "part_sender": PERSON,
    "rename_person": PERSON,
    "approve_pairing": ACCESS,
    "allow_sender": ACCESS,
    "revoke_sender": ACCESS,
    "retry_delivery": Heard("delivery.pending"),
    "make_job": JOB,
    "change_job": JOB,
    "delete_job": Heard("job.changed", is_lost=True),
    "pause_job": JOB,
    "resume_job": JOB,
    "run_job": Heard(
        "job.changed project.changed session.opened turn.queued",
        "job.changed session.opened turn.queued",
    ),
    "upload_attachment": NOTHING,
    "import_history": NOTHING,
    "make_share": SHARE,
    "revoke_share": SHARE,
    "begin_session": _both("session.opened turn.queued"),
    "change_session": CHANGED,
    "forget_session": Heard("audit.noted session.forgotten", is_lost=True),
    "end_session": _both("session.ended"),
    "take_over": Heard("audit.noted session.changed"),
    "hand_back": NOTHING,
    "mark_read": CHANGED,
    "mark_unread": NOTHING,
    "arrange_sessions": CHANGED,
    "send_message": _both("turn.queued"),
    "edit_message": _both("message.added session.changed session.opened turn.queued"),
    "branch_session": _both("message.added session.opened"),
    "undo_turns": _both("transcript.changed"),
    "redo_turns": _both("session.changed transcript.changed"),
    "retry_turn": _both("transcript.changed turn.queued"),
    "compress_session": NOTHING,
    "undo_compaction": _both("transcript.changed"),
    "give_command": CHANGED,
    "stop_turn": STOPPED,
    "stop_session": STOPPED,
    "change_queued": _both("message.changed turn.queued"),
    "unqueue_message": _both("message.added message.changed turn.stopped"),
    "decide_approval": Heard("audit.noted turn.queued", "turn.queued"),
    "revoke_allowance": CHANGED,
    "put_draft": NOTHING,
    "delete_draft": NOTHING,
    "make_project": PROJECT,
    "change_project": PROJECT,
    "delete_project": PROJECT,
    "change_settings": SETTINGS,
    "reload_settings": SETTINGS,
    "probe_settings": NOTHING,
}
"""Every operation that is no GET, as the table asks for it: by the member, if they may."""


def test_no_operation_is_forgotten() -> None:
    """Whatever can change something says here what whoever follows is told of it."""
    assert sorted(TOLD) == sorted(name for name in TABLE if read_places()[name][0] != "GET")


@pytest.mark.parametrize("operation", TOLD)
async def test_whatever_is_asked_is_told(
    operation: str, template: Template, tmp_path: Path
) -> None:
    """The owner and the member end where they would be if they loaded anew, and hear no more."""
    row, told = TABLE[operation], TOLD[operation]
    async with (
        move_in(*template, tmp_path / "house") as household,
        serving(household) if row.is_served else nullcontext(),
    ):
        before, heard = await household.store.feed.end(), set[str]()
        owner, member = [await Watch.of(household, name) for name in ("owner", "member")]

        async def act() -> None:
            await _act(household, operation)

        async def watched() -> None:
            if told.is_lost:
                await _loses(member, household, operation)
            else:
                events = await verify_feed(member.snapshot, member.follow, act, told.member.split())
                heard.update(event.kind.value for event in events)

        await verify_feed(owner.snapshot, owner.follow, watched, told.owner.split())
        events = (await household.store.feed.read(before)).events

    kinds = {event.kind.value for event in events}
    assert kinds == set(told.owner.split())
    assert heard == set(told.member.split())


@asynccontextmanager
async def serving(household: Household) -> AsyncIterator[None]:
    """Serve, from when the feed has told that the gateway and its platforms are up."""
    async with household.gateway as gateway:
        async with asyncio.timeout(HANG_SECONDS):
            while not await _is_told(household.store, gateway):
                await asyncio.sleep(0.01)
        yield


async def _is_told(store: Store, gateway: Gateway) -> bool:
    (row,) = await store.gateways()
    states = {one.state for one in row.platforms.values()}
    return row.platforms == gateway.health().platforms and states == {PlatformState.UP}


async def _act(household: Household, operation: str) -> None:
    row = TABLE[operation]
    caller = Caller.MEMBER if row.audience[Caller.MEMBER] == OK else Caller.OWNER
    assert await ask_as(household, operation, caller) == row.expected(caller)


async def _loses(member: Watch, household: Household, operation: str) -> None:
    """Let something go of which the member cannot know whose it was: they load anew."""
    witness = StreamWitness(member.snapshot)
    await witness.begin()
    async with member.follow(witness.cursor or "") as frames:
        await _act(household, operation)
        async with asyncio.timeout(HANG_SECONDS):
            while not witness.reloads:
                await witness.take(await anext(frames))
        assert await witness.agrees()
