"""How stories about many sessions begin: somebody speaks, and somebody looks at the list."""

from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.message import Text
from threadline.core.session import SessionId
from threadline.core.session_list import ListSection, SessionFilter, SessionRow
from threadline.store import Store

NOBODY = SessionId("20260101_000000_00000000")


async def begin(store: Store, chat: str, text: str = "hello", profile: str = "main") -> SessionId:
    """Let somebody say something in a chat of their own."""
    arrival = await store.receive(
        Inbound(
            address=Address(platform="telegram", kind=Kind.DM, chat=chat),
            sender=Sender(id=chat, name=chat.title()),
            at=store.now(),
            parts=(Text(text=text),),
            profile=profile,
        )
    )
    assert arrival.session_id is not None
    return arrival.session_id


async def row_of(store: Store, id: SessionId, **wishes: str) -> SessionRow:
    """Read the row of a session, wherever it is shown."""
    everywhere = SessionFilter(shelf=ListSection.ALL, with_empty=True)
    rows = (await store.sessions.list(everywhere, most=1000, **wishes)).rows  # type: ignore[arg-type]
    return next(row for row in rows if row.session.id == id)
