"""Talk to be searched: what the tests of the search say, and how they ask for it."""

import itertools
from collections.abc import Sequence

from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.message import Role, Text, say
from threadline.core.person import Viewer
from threadline.core.search import Found, SearchFilter
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.inbound.deduplication import Arrival

HERE = Address(platform="telegram", kind=Kind.DM, chat="alice")
ALICE = Sender(id="alice")
OWNER = Viewer.owner()

numbers = itertools.count(1)


async def tell(store: Store, text: str, **fields: object) -> Arrival:
    """Say something, as Alice in her dm unless told otherwise."""
    given = {
        "address": HERE,
        "sender": ALICE,
        "at": store.now(),
        "parts": (Text(text=text),),
        "message_id": str(next(numbers)),
    }
    return await store.receive(Inbound(**{**given, **fields}))  # type: ignore[arg-type]


async def answer(store: Store, text: str = "ok") -> None:
    """Answer the next turn."""
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, text)])


async def talk(store: Store, text: str, reply: str = "ok", **fields: object) -> SessionId:
    """Say something and get an answer."""
    arrival = await tell(store, text, **fields)
    await answer(store, reply)
    assert arrival.session_id is not None
    return arrival.session_id


async def texts(store: Store, question: str, asker: Viewer = OWNER, **fields: object) -> list[str]:
    """Search, and answer the snippets in order of the alphabet."""
    found = await store.search(question, asker=asker, where=SearchFilter(**fields))  # type: ignore[arg-type]
    return sorted(hit.snippet.text for hit in found.hits)


async def fill(store: Store, corpus: Sequence[str]) -> SessionId:
    """Make a session with these lines."""
    id = await talk(store, "begin")
    await store.transcripts.record(id, [say(Role.ASSISTANT, text) for text in corpus])
    return id


def seqs(found: Found) -> list[int]:
    """Answer the places of hits in order."""
    return sorted(hit.seq for hit in found.hits)
