"""What belongs to no session is told to those who see everything, and to no member."""

from tests.databases import FAST, on
from threadline.core.event import Cursor, Event, EventKind
from threadline.core.person import Asker
from threadline.sessions.store import Store
from threadline.web.feed.sight import Sight

NOUNS = {
    "project",
    "job",
    "access",
    "person",
    "allowance",
    "home",
    "gateway",
    "account",
    "settings",
}


@on(FAST)
async def test_no_member_hears_what_is_administered(store: Store) -> None:
    """Neither who people are and who is let in, nor which settings hold."""
    kinds = [kind for kind in EventKind if kind.noun in NOUNS]
    events = [
        Event(
            cursor=Cursor("0.0"),
            kind=kind,
            session_id=None,
            revision=0,
            subject=1,
            at=store.now(),
        )
        for kind in kinds
    ]
    member = await store.make_account("Mia")
    sight = Sight(store, lambda _: None)

    assert {kind.noun for kind in kinds} == NOUNS
    assert not any(sight.select(member.asker(), events))
    assert all(sight.select(Asker.owner(), events))
