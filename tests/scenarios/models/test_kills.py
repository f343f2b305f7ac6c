"""Kill -9 of a gateway whose model waits for leave, or has just used it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.crash.gateway.chat_platform import Exchange
from tests.crash.gateway.process_starter import Nursery, nursery
from tests.crash.verify import looking
from tests.doubles.providers import Calls, Hangs, ProviderDouble, Says, Thinks
from tests.doubles.providers.wire import texts
from tests.scenarios.models.child import NOTES
from threadline.core.delivery import REPEAT_MARKER

ALICE = 0
"""Her conversation."""
MAY_I = "May I use this tool?"
HM, WRITE = Thinks("Hm."), Calls(("write", {"text": "peas"}))


class Victim:
    """One database, one exchange and one provider over the lives of several gateways."""

    def __init__(self, folder: Path, urls: str, exchange: Exchange, born: Nursery) -> None:
        """Begin with nobody who serves."""
        self.exchange = exchange
        self._where = folder / "threadline.db"
        self._urls = urls
        self._nursery = born

    async def serves(self, *, hours: int = 0) -> None:
        """Let a gateway begin, in so many hours from now."""
        await self._nursery.bear(str(self._where), self._urls, hours)
        await self._nursery.ready()

    async def dies(self) -> None:
        """Kill the gateway, as soon as what it said is written down."""
        # What was shown and not yet written down would be said again, with a mark.
        await self.exchange.until(lambda: not self._owes())
        await self._nursery.kill()

    async def sees(self, words: str) -> None:
        """Wait until Alice reads these words."""
        await self.exchange.until(lambda: any(words in text for text in self.shown))

    @property
    def shown(self) -> list[str]:
        """What Alice reads."""
        return [one.text for one in self.exchange.shown]

    @property
    def written(self) -> list[str]:
        """What the tool wrote down."""
        notes = self._where.with_name(NOTES)
        return notes.read_text().split() if notes.exists() else []

    def _owes(self) -> bool:
        with looking(str(self._where)) as look:
            return bool(look("SELECT id FROM deliveries WHERE state IN ('pending', 'sending')"))


@pytest.fixture
async def victim(tmp_path: Path, double: ProviderDouble) -> AsyncIterator[Victim]:
    """Have a nursery for gateways, and Alice, who writes only what a test says."""
    exchange = Exchange(conversations=0)
    async with exchange.open() as url, nursery("tests.scenarios.models.child") as born:
        yield Victim(tmp_path, f"{url} {double.url}", exchange, born)


def result_of(double: ProviderDouble) -> str:
    """Answer the only result of a tool that the model was sent last."""
    (result,) = (
        texts(block["content"])
        for message in double.last.json["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    )
    return result


async def test_leave_is_given_hours_after_a_kill(victim: Victim, double: ProviderDouble) -> None:
    """The tool runs once, and the model hears what came of it; a second kill repeats nothing."""
    await victim.serves()
    double.will(HM, WRITE)
    victim.exchange.say(ALICE, "write it down")
    await victim.sees(MAY_I)
    await victim.dies()

    await victim.serves(hours=9)
    assert victim.written == []
    double.will(HM, Hangs(), Says("never heard"))
    victim.exchange.say(ALICE, "/approve")
    await victim.sees("Approved.")
    await double.hangs()
    assert victim.written == ["peas"]
    await victim.dies()

    double.will(Says("It is written."))
    await victim.serves(hours=9)
    await victim.sees("It is written.")

    assert victim.written == ["peas"]
    assert result_of(double) == "peas is written"
    assert sum(MAY_I in text for text in victim.shown) == 1
    assert not any(REPEAT_MARKER in text for text in victim.shown)
    assert len(double.requests) == 3
