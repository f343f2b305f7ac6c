"""Refused messages: whatever was not stored is received when it is sent again."""

import random
from collections import Counter
from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.gateway.inbox_setup import Front
from tests.platforms.webhook_caller import Caller, settings
from threadline.core.access import AccessRules
from threadline.core.errors import StorageError
from threadline.core.inbound import Inbound
from threadline.core.platform import ReceiveResult
from threadline.core.settings import Settings
from threadline.gateway.inbox import Inbox
from threadline.platforms.webhook import Webhook
from threadline.testing.clock import FakeClock

pytestmark = on(FAST, POSTGRES)

PEOPLE = ("ann", "ben")
MEMBERS = AccessRules(allow=[f"hook:{name}" for name in PEOPLE], per_minute=20)
STRANGERS = replace(MEMBERS, allow=[])
MESSAGES = 60


class FailingGate(Inbox):
    """An inbox whose storage fails sometimes, before a message is stored or after it."""

    dice: random.Random

    async def take(self, inbound: Inbound) -> ReceiveResult:
        """Take in a message, or fail before or after that."""
        luck = self.dice.random()
        if luck < 0.05:
            raise StorageError("The disk is full")
        taken = await super().take(inbound)
        if luck > 0.95:
            raise StorageError("The connection was lost while committing")
        return taken


class Sender:
    """A program that sends every message until it is acknowledged."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.unsent = [
            {"message_id": f"m{n}", "session": who, "text": f"{who} {n}", "sender": {"id": who}}
            for n in range(MESSAGES)
            for who in PEOPLE
        ]
        self.statuses: Counter[int] = Counter()

    async def send(self, place: int) -> None:
        """Send one of the messages that were not acknowledged."""
        message = self.unsent[place]
        response = await self._caller.post(message)
        self.statuses[response.status_code] += 1
        if response.status_code in {429, 503}:
            assert int(response.headers["retry-after"]) >= 1
        if response.is_success:
            self.unsent.pop(place)


@pytest.mark.parametrize("seed", range(3))
async def test_every_message_is_stored_once(open_store: OpenStore, seed: int) -> None:
    """Messages that are refused for any reason and sent again are each stored exactly once."""
    dice, clock = random.Random(seed), FakeClock()
    store = await open_store(rules=Settings(queue_cap=3), clock=clock)
    front = Front(store, MEMBERS)
    gate = FailingGate(store.database, front.access, front.voice, meters=front.meters)
    gate.dice = dice
    webhook = Webhook("hook", settings(senders="checked"))
    sender = Sender(Caller(webhook))
    with webhook._doorway.open(gate):
        while sender.unsent:
            step = dice.choices(["send", "answer", "wait", "access"], [80, 12, 4, 4])[0]
            if step == "send":
                await sender.send(dice.randrange(len(sender.unsent)))
            elif step == "answer" and (claim := await store.turns.claim()) is not None:
                await store.turns.finish(claim.lease, [])
            elif step == "wait":
                clock.advance(timedelta(seconds=dice.randrange(30)))
            elif step == "access":
                front.access.rules = dice.choice([MEMBERS, MEMBERS, STRANGERS])
        await gate.settle()

    expected = sorted(f"{who} {n}" for n in range(MESSAGES) for who in PEOPLE)
    assert sorted(await front.transcripts()) == expected
    assert {202, 403, 429, 503} <= set(sender.statuses)
