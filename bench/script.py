"""The script: who says what in which conversation, the same for every measurement."""

import itertools
import secrets
from datetime import UTC, datetime
from decimal import Decimal

from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.message import NewMessage, Role, say
from threadline.core.usage import CostStatus, Usage

PLATFORM = "telegram"
TOKEN = "0" * 8
"""Stands for the number of a conversation wherever its name holds one."""
LONG = "long"
LONG_MESSAGES = 100_000

_SENTENCE = "Could you look up when the ferry leaves on Sunday, and whether bicycles are allowed? "
QUESTION = (_SENTENCE * 3)[:200]
ANSWER = (_SENTENCE[::-1] * 3)[:200]
ANSWERS: tuple[NewMessage, ...] = (say(Role.ASSISTANT, ANSWER),)
USAGE = Usage(
    provider="example",
    model="example-large",
    input_tokens=2_400,
    output_tokens=60,
    cache_read_tokens=1_800,
    prompt_tokens=2_400,
    cost=Decimal("0.0021"),
    cost_status=CostStatus.ESTIMATED,
)

_process = secrets.token_hex(4)
_numbers = itertools.count()


def new_name() -> str:
    """Make a name that nothing has had before, in this process or another."""
    return f"{_process}{next(_numbers)}"


def chat_of(number: int) -> str:
    """Name the chat of a filled conversation."""
    return f"c{number:08d}"


def sender_of(number: int) -> str:
    """Name the person of a filled conversation."""
    return f"u{number:08d}"


def spoken(chat: str, sender: str, message_id: str, at: datetime | None = None) -> Inbound:
    """Make a message of 200 characters from a person to the agent."""
    return Inbound.text(
        QUESTION,
        address=Address(platform=PLATFORM, kind=Kind.DM, chat=chat),
        sender=Sender(id=sender),
        at=at or datetime.now(UTC),
        message_id=message_id,
    )
