"""Platforms that say nothing by themselves: all that is said stands in the outcome."""

import re
from datetime import timedelta

from msgspec.structs import replace

from tests.databases import FAST, POSTGRES, DatabaseFactory, OpenStore, on
from tests.gateway.inbox_setup import Front
from threadline.core.platform import Capabilities, ReceiveStatus
from threadline.gateway.inbox import UNKNOWN
from threadline.gateway.reply_cache import RECALLED_FOR
from threadline.store import Store
from threadline.testing.clock import FakeClock

pytestmark = on(FAST, POSTGRES)

CODE = re.compile(r"\b[2-9A-HJ-NP-Z]{8}\b")
MUTE = Capabilities(speaks=False)
"""It says nothing by itself, as a webhook without a callback."""


async def test_where_nothing_can_be_said_the_outcome_says_it(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """A secret stands in the outcome and nowhere else; who brings it again is told the same."""
    front = Front(store, capabilities=lambda _: MUTE)
    await front.take("hello")
    said = front.said("/link")

    first, again = await front.inbox.take(said), await front.inbox.take(said)
    await front.inbox.settle()

    code = (first.said or "").rpartition("/link ")[2]
    assert (first.reception, len(code) > 5) == (ReceiveStatus.COMMAND, True)
    assert again == replace(first, reception=ReceiveStatus.REPEATED)
    assert front.voice.words == [] == await front.owed()
    assert code not in str(database_factory.tamper("SELECT * FROM link_codes"))


async def test_a_stranger_is_told_the_code_where_nothing_else_can_be_said(store: Store) -> None:
    """With the refusal, also when the same message is brought again; another one tells no code."""
    front = Front(store, capabilities=lambda _: MUTE)
    said = front.said("let me in", "mallory")

    first, again = await front.inbox.take(said), await front.inbox.take(said)
    other = await front.take("let me in", "mallory")

    assert CODE.findall(first.said or "")
    assert again == first
    assert (other.reception, other.said) == (ReceiveStatus.REFUSED, UNKNOWN)
    assert front.voice.words == []


async def test_an_export_that_cannot_be_sent_is_told_at_once(store: Store) -> None:
    """Who can be sent nothing is told how the file can be had."""
    front = Front(store, capabilities=lambda _: MUTE)
    await front.take("hello")

    taken = await front.take("/export")

    assert "threadline sessions export" in (taken.said or "")


async def test_answers_are_remembered_for_minutes_and_not_beyond_a_forgetting(
    open_store: OpenStore,
) -> None:
    """Later, or after somebody is forgotten, a repeat is only known as one."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    front = Front(store, capabilities=lambda _: MUTE)
    await front.take("hello")
    title, whoami = front.said("/title Holidays"), front.said("/whoami")
    await front.inbox.take(title)
    clock.advance(RECALLED_FOR + timedelta(seconds=1))
    assert (await front.inbox.take(title)).said is None
    await front.inbox.take(whoami)
    assert (await front.inbox.take(whoami)).said

    forgotten = await front.take("/forget this yes")

    assert forgotten.said == "Forgetting this conversation."
    assert (await front.inbox.take(whoami)).said is None
