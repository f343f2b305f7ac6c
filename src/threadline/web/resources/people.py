"""People: who speaks through several senders, and forgetting somebody for good."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Response
from msgspec import Meta
from msgspec.structs import asdict

from threadline.core.delivery import LOCAL
from threadline.core.person import KnownSender, Person, PersonKey
from threadline.core.validation import COUNT_LIMIT
from threadline.store.admin_queries import SenderRow
from threadline.store.person_links.unlink import Parting
from threadline.web.bodies import Body, Revision, Time, View
from threadline.web.resources.addresses import parse_identity
from threadline.web.resources.auth_deps import Administering, require_home
from threadline.web.resources.deletions import CertificateView, DeletionPreviewView
from threadline.web.resources.deps import StoreDep, path_key
from threadline.web.resources.etags import IfMatch, seen_in, tell_tag
from threadline.web.resources.pagination import PAGE, After, Most, Page, number_after
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router

SenderName = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=600,
        description="Who is meant: the platform, a colon, and the id there.",
        examples=["telegram:42"],
    ),
]
"""A sender, as a request names one."""


class SenderView(View, frozen=True, kw_only=True):
    """Somebody as a platform knows them."""

    sender: Annotated[str, Meta(examples=["telegram:42"])]
    name: str | None
    first_seen_at: Time | None
    """Null: they have not spoken yet."""

    @classmethod
    def from_sender(cls, known: KnownSender) -> "SenderView":
        """Return the view of a sender."""
        return cls(sender=str(known.identity), name=known.name, first_seen_at=known.first_seen_at)


class ListedSenderView(SenderView, frozen=True, kw_only=True):
    """A sender, and the person that they are."""

    person: int | None
    """Null: they are linked with nobody."""

    @classmethod
    def from_row(cls, row: SenderRow) -> "ListedSenderView":
        """Return the view of a sender in a list."""
        known = SenderView.from_sender(row.sender)
        return cls(**asdict(known), person=row.person)


class PersonView(View, frozen=True, kw_only=True):
    """Somebody who speaks through several senders."""

    key: int
    name: str | None
    made_at: Time
    senders: Sequence[SenderView]
    revision: Revision

    @classmethod
    def from_person(cls, person: Person) -> "PersonView":
        """Return the view of a person."""
        return cls(
            key=person.key,
            name=person.name,
            made_at=person.made_at,
            senders=[SenderView.from_sender(one) for one in person.senders],
            revision=person.revision,
        )


class PersonRenameRequest(Body, frozen=True, kw_only=True):
    """Another name for a person."""

    name: Annotated[str, Meta(min_length=1, max_length=200, examples=["Ada"])]


class JoinRequest(Body, frozen=True, kw_only=True):
    """Two senders who are one person."""

    one: SenderName
    other: SenderName


class SenderRequest(Body, frozen=True, kw_only=True):
    """One sender."""

    sender: SenderName


class UnlinkView(View, frozen=True, kw_only=True):
    """What came of taking a sender out of their person."""

    parted: bool
    """False: they were linked with nobody."""
    ended: Sequence[str]
    """The sessions that end, as both spoke in them."""

    @classmethod
    def from_parting(cls, parting: Parting | None) -> "UnlinkView":
        """Return the view of a separation."""
        ended = () if parting is None else parting.ended
        return cls(parted=parting is not None, ended=list(ended))


router = Router(prefix="/people", tags=["people"])

Key = Annotated[int, path_key("The key of a person.")]


@router.get("")
async def list_people(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[PersonView]:
    """List everybody who speaks through several senders."""
    found = await store.people(after=number_after(after) or 0, most=most + 1)
    return Page.cut(found, most, PersonView.from_person, lambda one: one.key)


@router.get("/senders")
async def list_senders(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[ListedSenderView]:
    """List everybody known on any platform, in the order in which they came."""
    found = await store.senders(after=number_after(after) or 0, most=most + 1)
    return Page.cut(found, most, ListedSenderView.from_row, lambda row: row.key)


@router.get("/forgettings")
async def list_forgettings(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[CertificateView]:
    """Show the certificates of what was forgotten, the newest first."""
    place = number_after(after, 1)
    found = await store.certificates(most + 1, before=COUNT_LIMIT if place is None else place)
    return Page.cut(found, most, CertificateView.of, lambda one: one.id)


@router.post("/forgettings/plan")
async def plan_forgetting_person(
    wish: SenderRequest, _: Administering, store: StoreDep
) -> DeletionPreviewView:
    """Tell what would be removed with somebody. Nothing is changed."""
    return DeletionPreviewView.of(await store.plan_forgetting_person(parse_identity(wish.sender)))


@router.post("/forgettings")
async def forget_person(
    wish: SenderRequest, visitor: Administering, store: StoreDep
) -> CertificateView:
    """Forget somebody for good: their sessions, their words elsewhere, and the answers to them.

    All linked senders are forgotten together. The certificate tells what was removed; one that is
    not done yet is completed by the gateway.
    """
    who = parse_identity(wish.sender)
    certificate = await store.forget_person(who, by=visitor.actor)
    return CertificateView.of(certificate)


@router.post("/join")
async def join_senders(wish: JoinRequest, visitor: Administering, store: StoreDep) -> PersonView:
    """Make two senders one person. Their messages stay where they are.

    No token joins the sender of an account with another one, who would then speak as this account.
    """
    one, other = parse_identity(wish.one), parse_identity(wish.other)
    if LOCAL in {one.platform, other.platform}:
        require_home(visitor)
    return PersonView.from_person(await store.join(one, other, by=visitor.actor))


@router.post("/part")
async def part_sender(wish: SenderRequest, visitor: Administering, store: StoreDep) -> UnlinkView:
    """Make a sender a person of their own again."""
    who = parse_identity(wish.sender)
    return UnlinkView.from_parting(await store.part(who, by=visitor.actor))


@router.get("/{key}")
async def read_person(
    key: Key, _: Administering, store: StoreDep, response: Response
) -> PersonView:
    """Read a person."""
    return _shown(response, await store.person(PersonKey(key)))


@router.patch("/{key}", responses=problem_responses(412, 428))
async def rename_person(
    key: Key,
    wish: PersonRenameRequest,
    visitor: Administering,
    store: StoreDep,
    *,
    response: Response,
    seen: IfMatch = None,
) -> PersonView:
    """Rename a person."""
    person = await store.person(PersonKey(key))
    renamed = await store.rename_person(person.key, wish.name, by=visitor.actor, seen=seen_in(seen))
    return _shown(response, renamed)


def _shown(response: Response, person: Person) -> PersonView:
    tell_tag(response, person.revision)
    return PersonView.from_person(person)
