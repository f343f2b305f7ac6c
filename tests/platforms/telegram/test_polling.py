import asyncio
import logging

import pytest

from tests.doubles.telegram import BotApi
from tests.platforms.telegram.bot_setup import TelegramStage, make_telegram, running, stage
from threadline.core.errors import PlatformError, StorageError
from threadline.core.message import plain_text
from threadline.core.platform import ReceiveStatus
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.fake_gate import RecordingGate

ELSEWHERE = "http://127.0.0.1:1/platforms/telegram/updates"


def words(gate: RecordingGate) -> list[str]:
    return [plain_text(one.parts) for one in gate.taken]


async def failure(task: asyncio.Task[None]) -> BaseException:
    """Wait for a run to end by itself, and answer why it did."""
    await asyncio.wait({task}, timeout=HANG_SECONDS)
    error = task.exception()
    assert error is not None
    return error


async def test_what_was_said_while_we_were_down_arrives_once() -> None:
    """Telegram keeps what was not confirmed; it comes in its order, and is confirmed then."""
    async with stage() as set_up:
        gate = RecordingGate()
        for n in range(3):
            await set_up.write(f"early {n}")
        async with running(set_up.platform, gate):
            await gate.until(taken=3)
            await set_up.api.until(lambda: not set_up.api.waiting)
        await set_up.write("late")
        async with running(make_telegram(set_up.api), gate):
            await gate.until(taken=4)

    assert words(gate) == ["early 0", "early 1", "early 2", "late"]
    assert len(gate.seen) == 4


async def test_what_was_taken_but_not_confirmed_comes_again_as_the_same() -> None:
    """Killed between taking and confirming, the next program is told the same, by the same id."""
    async with stage() as set_up:
        gate = RecordingGate()
        gate.close()
        async with running(set_up.platform, gate):
            await set_up.write("once")
            await gate.until(seen=1)
        gate.open()
        async with running(make_telegram(set_up.api), gate):
            await gate.until(taken=1, seen=2)

    assert {one.message_id for one in gate.seen} == {gate.taken[0].message_id}


async def test_a_batch_of_which_one_fails_is_not_confirmed() -> None:
    """Others may be taken; the one that was not comes again, and nothing is lost."""
    async with stage() as set_up:
        bob = set_up.api.person("Bob")
        dm = set_up.api.dm(bob)
        gate = RecordingGate()
        gate.break_down(times=1)
        for n in range(5):
            await set_up.write(f"alice {n}")
            await bob.writes(dm, f"bob {n}")
        async with running(set_up.platform, gate) as task:
            assert isinstance(await failure(task), StorageError)
        assert len(set_up.api.waiting) == 10
        async with running(set_up.platform, gate):
            await gate.until(taken=10)

    for who in ("alice", "bob"):
        said = [text for text in words(gate) if text.startswith(who)]
        assert said == [f"{who} {n}" for n in range(5)]


async def test_a_slow_chat_does_not_hold_up_another() -> None:
    """Chats of one batch are taken in beside each other."""

    class SlowForAlice(RecordingGate):
        bob_was_taken = asyncio.Event()

        async def take(self, inbound):  # type: ignore[no-untyped-def]
            if inbound.sender.name == "Bob":
                taken = await super().take(inbound)
                self.bob_was_taken.set()
                return taken
            await self.bob_was_taken.wait()
            return await super().take(inbound)

    async with stage() as set_up:
        bob, gate = set_up.api.person("Bob"), SlowForAlice()
        await set_up.write("first")
        await bob.writes(set_up.api.dm(bob), "second")
        async with running(set_up.platform, gate):
            await gate.until(taken=2)

    assert words(gate) == ["second", "first"]


async def test_many_updates_come_in_several_batches() -> None:
    """More than one call can hold: all come, in order, none twice."""
    async with stage() as set_up:
        gate = RecordingGate()
        for n in range(250):
            await set_up.write(str(n))
        async with running(set_up.platform, gate):
            await gate.until(taken=250)

    assert words(gate) == [str(n) for n in range(250)]
    assert len(gate.seen) == 250


async def test_a_pause_that_telegram_wants_is_made() -> None:
    """A flood is no failure of the connection: one waits, and goes on."""
    async with stage() as set_up:
        gate = RecordingGate()
        set_up.api.flood(1, methods="getUpdates")
        async with running(set_up.platform, gate) as task:
            await set_up.write("still here")
            await gate.until(taken=1)
            assert not task.done()


@pytest.mark.parametrize("mishap", ["drop", "mangle", "fail"])
async def test_a_broken_line_is_raised_as_our_error(mishap: str) -> None:
    """Whoever runs the platform begins again; nothing that was said is lost."""
    async with stage() as set_up:
        gate = RecordingGate()
        getattr(set_up.api, mishap)(methods="getUpdates")
        await set_up.write("before")
        async with running(set_up.platform, gate) as task:
            error = await failure(task)
        await set_up.write("after")
        async with running(set_up.platform, gate):
            await gate.until(taken=2)

    assert words(gate) == ["before", "after"]
    assert isinstance(error, PlatformError)
    assert set_up.api.token not in str(error)


async def test_a_server_that_is_not_there_is_told() -> None:
    """The owner reads that Telegram cannot be reached, and not where the SDK gave up."""
    async with BotApi() as api:
        telegram = make_telegram(api, api_url="http://127.0.0.1:1")
        with pytest.raises(PlatformError, match="cannot be reached") as raised:
            await telegram.run(RecordingGate())

    assert api.token not in repr(raised.getrepr(style="long"))


async def test_a_wrong_token_is_told_without_showing_it() -> None:
    """The token may be half right, and belongs into no log."""
    wrong = "4242:wrong-token-of-a-good-form"
    async with BotApi() as api:
        telegram = make_telegram(api, token=wrong)
        with pytest.raises(PlatformError, match="BotFather") as raised:
            await telegram.run(RecordingGate())

    assert wrong not in str(raised.value)


async def test_another_program_that_polls_is_told() -> None:
    """Two programs with one token take each other's news away; the owner must know."""
    async with stage() as set_up, running(set_up.platform, RecordingGate()) as first:
        await set_up.api.until(lambda: set_up.api.called("getUpdates"))
        async with running(make_telegram(set_up.api), RecordingGate()):
            error = await failure(first)

    assert "Another program polls" in str(error)


async def test_a_webhook_that_is_set_is_told() -> None:
    """It may belong to somebody, so that it is not taken away."""
    async with stage() as set_up, set_up.platform._line.open() as bot:
        await bot.set_webhook(ELSEWHERE)
        with pytest.raises(PlatformError, match="webhook is set"):
            await set_up.platform.run(RecordingGate())
        assert (await bot.get_webhook_info()).url == ELSEWHERE


async def test_our_own_webhook_is_taken_away() -> None:
    """Who goes over from a webhook to polling has nothing else to do."""
    async with stage() as set_up:
        gate, telegram = RecordingGate(), make_telegram(set_up.api, webhook_url=ELSEWHERE)
        async with telegram._line.open() as bot:
            await bot.set_webhook(ELSEWHERE)
        async with running(telegram, gate):
            await set_up.write("hello")
            await gate.until(taken=1)

    assert words(gate) == ["hello"]


async def test_what_cannot_be_read_is_confirmed_with_one_log_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It would come for ever otherwise."""
    async with stage() as set_up:
        gate = RecordingGate()
        set_up.api.inject({"message": {"text": "secret words", "chat": 3}})
        async with running(set_up.platform, gate):
            await set_up.write("hello")
            await gate.until(taken=1)
            await set_up.api.until(lambda: not set_up.api.waiting)

    told = [one for one in caplog.records if one.levelno == logging.WARNING]
    assert len(told) == 1
    assert "secret words" not in caplog.text


async def test_blocking_and_coming_back_is_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    """Nobody is answered who does not want to hear; the log tells why it is quiet."""
    caplog.set_level(logging.INFO)
    async with stage() as set_up:
        gate = RecordingGate()
        async with running(set_up.platform, gate):
            await set_up.alice.blocks(set_up.dm)
            await set_up.alice.unblocks(set_up.dm)
            await set_up.write("back again")
            await gate.until(taken=1)

    assert "we are now kicked" in caplog.text
    assert "we are now member" in caplog.text


async def offer(set_up: TelegramStage) -> None:
    async with set_up.platform._line.open() as bot:
        await bot.send_message(
            set_up.dm.id,
            "May I?",
            reply_markup={"inline_keyboard": [[{"text": "Yes", "callback_data": "/approve"}]]},  # type: ignore[arg-type]
        )


async def test_a_button_says_what_it_stands_for() -> None:
    """It comes as a message of whoever pressed it, and comes to rest when that is kept."""
    async with stage() as set_up:
        gate = RecordingGate()
        await offer(set_up)
        gate.close()
        async with running(set_up.platform, gate):
            press = await set_up.alice.presses(set_up.dm.messages[0], "Yes")
            await gate.until(seen=1)
            assert press.answer is None
            gate.open()
            await set_up.api.answered(press)

    (inbound,) = gate.taken
    assert (plain_text(inbound.parts), inbound.message_id) == ("/approve", f"callback-{press.id}")
    assert (inbound.sender.id, inbound.address) == (str(set_up.alice.id), set_up.address)


async def test_who_may_not_press_a_button_is_told_so() -> None:
    """In a group nobody else need read it."""
    async with stage() as set_up:
        gate = RecordingGate()
        gate.reception, gate.said = ReceiveStatus.REFUSED, "Not you. " * 50
        await offer(set_up)
        async with running(set_up.platform, gate):
            press = await set_up.alice.presses(set_up.dm.messages[0], "Yes")
            answer = await set_up.api.answered(press)

    assert str(answer["text"]).startswith("Not you.")
    assert len(str(answer["text"])) <= 200


async def test_a_button_that_cannot_be_answered_harms_nobody() -> None:
    """Telegram forgets a pressed button after a while; what it says is taken in all the same."""
    async with stage() as set_up:
        gate = RecordingGate()
        await offer(set_up)
        set_up.api.fail(400, "query is too old", methods="answerCallbackQuery")
        async with running(set_up.platform, gate) as task:
            await set_up.alice.presses(set_up.dm.messages[0], "Yes")
            await set_up.write("and on")
            await gate.until(taken=2)
            assert not task.done()
