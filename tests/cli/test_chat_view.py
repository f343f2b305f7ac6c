"""What is shown of a conversation, each word once."""

import pytest

from tests.databases import FAST, OpenStore, on
from threadline.cli.chat_loop import PlainDisplay
from threadline.cli.chat_session import OWNER, TERMINAL
from threadline.cli.chat_view import ChatView
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.core.session import SessionId
from threadline.core.turn import TurnState
from threadline.gateway.turn_pubsub import TurnClosed


@on(FAST)
async def test_an_answer_whose_beginning_was_missed_is_shown_once(
    open_store: OpenStore, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first words were read from the store; when the worker tells of the end the rest follows.

    On a slow machine the first answer of a conversation was shown in part, and then again.
    """

    async def moved(id: SessionId) -> None:
        pass

    store = await open_store()
    hello = Inbound.text("hello", address=TERMINAL, sender=OWNER, at=store.now())
    arrival = await store.arrive(hello)
    claim = await store.claim()
    assert claim is not None
    assert arrival.session_id is not None
    view = ChatView(store, None, PlainDisplay(), profile="main", moved=moved)
    view.expect(claim.turn.id, typed=True)
    view.look_at(arrival.session_id)

    await store.checkpoint([(claim.lease, "You said")])
    await view._take_streaming(await store.streaming(arrival.session_id))
    await store.finish(claim.lease, [say(Role.ASSISTANT, "You said hello.")])
    await view._take_live(TurnClosed(turn_id=claim.turn.id, state=TurnState.DONE))

    assert capsys.readouterr().out == "You said hello.\n"
    assert not view.under_way
