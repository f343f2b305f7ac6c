"""A process that is stopped while it calls a platform, and wakes up after it was replaced."""

from dataclasses import replace

import pytest

from tests.crash.gateway.chat_platform import PLATFORMS
from tests.crash.gateway.invariants import is_at_rest
from tests.crash.gateway.moments import MOMENTS, Scene, open_scene, settle
from tests.crash.gateway.test_gateway_kills import assert_kept
from tests.crash.verify import looking
from tests.databases import DURABLE, DatabaseFactory, on

SEED = 5
TWO = replace(MOMENTS["two-stop"], conversations=len(PLATFORMS))


def is_quiet(scene: Scene) -> bool:
    """Return whether everything has been answered."""
    with looking(scene.victim.where) as look:
        return is_at_rest(look, scene.exchange)


async def stop_and_replace(scene: Scene, step: str, **options: object) -> None:
    """Let a gateway stop itself in a step, another one do its work, and wake the first one."""
    stopped, options_before = scene.victim.nursery, dict(scene.victim.options)
    scene.victim.options |= {"stop": step, **options}
    await scene.serve(stopped)
    await stopped.stopped()
    scene.victim.options = options_before
    await scene.serve(scene.other)
    scene.exchange.is_calm = True
    assert await scene.eventually(lambda: is_quiet(scene)), "it was not replaced"
    stopped.resume()


async def serves_again(scene: Scene) -> None:
    """Wait until the process that woke up answers a question, alone."""
    await scene.kill(scene.other)
    before = len(scene.exchange.shown)
    scene.exchange.say(0, "")
    assert await scene.eventually(lambda: len(scene.exchange.shown) > before and is_quiet(scene)), (
        "it does not answer"
    )


@on(DURABLE)
@pytest.mark.parametrize("step", ["send:inside:3", "edit:inside:3"])
async def test_a_call_that_was_not_made_yet_is_not_made(
    database_factory: DatabaseFactory, step: str
) -> None:
    """A process stopped at the beginning of a call shows and changes nothing when it wakes up."""
    async with open_scene(TWO, database_factory.where, SEED) as scene:
        await stop_and_replace(scene, step)
        await serves_again(scene)
        assert_kept(await settle(TWO, scene), step)

        assert not any(one.is_late or one.late_edit for one in scene.exchange.shown)


@on(DURABLE)
async def test_of_a_message_that_came_too_late_one_is_marked(
    database_factory: DatabaseFactory,
) -> None:
    """A message that a process could not keep back was sent, marked, by the one that took over."""
    async with open_scene(TWO, database_factory.where, SEED) as scene:
        shown = scene.exchange.shown
        await stop_and_replace(scene, "send:inside:3", late=True)
        await scene.exchange.until(lambda: any(one.is_late for one in shown))
        late = next(one for one in shown if one.is_late)
        await serves_again(scene)
        assert_kept(await settle(TWO, scene), "a late message")

        assert any(one.is_marked for one in shown if one.delivery == late.delivery)


@on(DURABLE)
async def test_an_edit_that_came_too_late_is_mended(database_factory: DatabaseFactory) -> None:
    """A message that was overwritten by an old text reads as it should again."""
    async with open_scene(TWO, database_factory.where, SEED) as scene:
        shown = scene.exchange.shown
        await stop_and_replace(scene, "edit:inside:3", late=True)
        await scene.exchange.until(lambda: any(one.late_edit for one in shown))
        late = next(one for one in shown if one.late_edit)
        await scene.exchange.until(lambda: late.edits > late.late_edit)
        await serves_again(scene)
        assert_kept(await settle(TWO, scene), "a late edit")
