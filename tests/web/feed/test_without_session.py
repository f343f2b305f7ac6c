"""What belongs to no session is told to those who see everything, and to whom it concerns."""

from tests.databases import FAST, POSTGRES, on
from threadline.core.account import Account
from threadline.core.event import Cursor, Event, EventKind
from threadline.core.job import Job, NewJob
from threadline.core.person import Viewer
from threadline.store import Store
from threadline.web.feed.visibility_cache import VisibilityCache, things_of

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


def _event(store: Store, kind: EventKind, subject: int) -> Event:
    return Event(
        cursor=Cursor("0.0"),
        kind=kind,
        session_id=None,
        revision=0,
        subject=subject,
        at=store.now(),
    )


def _nobody(_: Viewer) -> None:
    """Hear that nobody lost anything out of sight."""


async def _job_of(store: Store, account: Account) -> Job:
    new = NewJob(prompt="What is new?", schedule="every day 9:00")
    return await store.jobs.create(new, account.asker())


async def _told(sight: VisibilityCache, asker: Viewer, *events: Event) -> list[bool]:
    await sight.learn([asker, Viewer.owner()], things_of(events))
    return list(sight.select(asker, events))


@on(FAST)
async def test_no_member_hears_what_is_administered(store: Store) -> None:
    """Neither who people are and who is let in, nor which settings hold."""
    kinds = [kind for kind in EventKind if kind.noun in NOUNS]
    events = [_event(store, kind, 1) for kind in kinds]
    await store.owner_account()
    member = await store.make_account("Mia")
    sight = VisibilityCache(store, _nobody)

    assert {kind.noun for kind in kinds} == NOUNS
    assert not any(await _told(sight, member.asker(), *events))
    assert all(await _told(sight, Viewer.owner(), *events))


@on(FAST)
async def test_a_member_hears_of_their_own_account(store: Store) -> None:
    """Their logins, tokens and passkeys go live; nobody else's do."""
    member, other = [await store.make_account(name) for name in ("Mia", "Otto")]
    events = [_event(store, EventKind.ACCOUNT_CHANGED, one.key) for one in (member, other)]
    # The same number is the key of something else.
    events.append(_event(store, EventKind.PROJECT_CHANGED, member.key))
    sight = VisibilityCache(store, _nobody)

    assert await _told(sight, member.asker(), *events) == [True, False, False]


@on(FAST, POSTGRES)
async def test_a_member_hears_of_their_own_jobs(store: Store) -> None:
    """Also that one is gone, as long as it was known whose it was."""
    member, other = [await store.make_account(name) for name in ("Mia", "Otto")]
    own, others = await _job_of(store, member), await _job_of(store, other)
    events = [_event(store, EventKind.JOB_CHANGED, one.id) for one in (own, others)]
    sight, asker = VisibilityCache(store, _nobody), member.asker()

    assert await _told(sight, asker, *events) == [True, False]
    for job in (own, others):
        await store.jobs.delete(job.id)
    sight.doubt()
    assert await _told(sight, asker, *events) == [True, False]
    assert not sight.is_blind(asker, events)


@on(FAST)
async def test_whoever_cannot_know_whose_a_job_was_loads_anew(store: Store) -> None:
    """Somebody came when it was gone already: it may have been theirs. An owner sees it anyway."""
    member = await store.make_account("Mia")
    job = await _job_of(store, member)
    await store.jobs.delete(job.id)
    event = _event(store, EventKind.JOB_CHANGED, job.id)
    sight = VisibilityCache(store, _nobody)

    assert await _told(sight, member.asker(), event) == [False]
    assert sight.is_blind(member.asker(), [event])
    assert not sight.is_blind(Viewer.owner(), [event])
    assert not sight.missing(Viewer.owner(), things_of([event]))
