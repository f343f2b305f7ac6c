"""People: who speaks through several senders, and forgetting somebody for good."""

from typing import Annotated

from fastapi import APIRouter, Response

from threadline.core.person import Person, PersonKey
from threadline.core.text import COUNT_LIMIT
from threadline.web.api.asking import Administering
from threadline.web.api.deps import StoreDep, path_key
from threadline.web.api.paging import PAGE, After, Most, Page, number_after
from threadline.web.api.problems import told
from threadline.web.api.revisions import IfMatch, seen_in, tell_tag
from threadline.web.api.shapes.people import (
    JoinWish,
    ListedSender,
    PartingShape,
    PersonRenaming,
    PersonShape,
    SenderWish,
)
from threadline.web.api.shapes.places import read_identity
from threadline.web.api.shapes.session import CertificateView, PlanView

router = APIRouter(prefix="/people", tags=["people"])

Key = Annotated[int, path_key("The key of a person.")]


@router.get("")
async def list_people(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[PersonShape]:
    """List everybody who speaks through several senders."""
    found = await store.people(after=number_after(after) or 0, most=most + 1)
    return Page.cut(found, most, PersonShape.from_person, lambda one: one.key)


@router.get("/senders")
async def list_senders(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[ListedSender]:
    """List everybody known on any platform, in the order in which they came."""
    found = await store.senders(after=number_after(after) or 0, most=most + 1)
    return Page.cut(found, most, ListedSender.from_row, lambda row: row.key)


@router.get("/forgettings")
async def list_forgettings(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[CertificateView]:
    """Show the certificates of what was forgotten, the newest first."""
    place = number_after(after, 1)
    found = await store.certificates(most + 1, before=COUNT_LIMIT if place is None else place)
    return Page.cut(found, most, CertificateView.from_certificate, lambda one: one.id)


@router.post("/forgettings/plan")
async def plan_forgetting_person(wish: SenderWish, _: Administering, store: StoreDep) -> PlanView:
    """Tell what would be removed with somebody. Nothing is changed."""
    return PlanView.from_plan(await store.plan_forgetting_person(read_identity(wish.sender)))


@router.post("/forgettings")
async def forget_person(
    wish: SenderWish, visitor: Administering, store: StoreDep
) -> CertificateView:
    """Forget somebody for good: their sessions, their words elsewhere, and the answers to them.

    All linked senders are forgotten together. The certificate tells what was removed; one that is
    not done yet is completed by the gateway.
    """
    who = read_identity(wish.sender)
    certificate = await store.forget_person(who, by=visitor.account.actor)
    return CertificateView.from_certificate(certificate)


@router.post("/join")
async def join_senders(wish: JoinWish, visitor: Administering, store: StoreDep) -> PersonShape:
    """Make two senders one person. Their messages stay where they are."""
    one, other = read_identity(wish.one), read_identity(wish.other)
    return PersonShape.from_person(await store.join(one, other, by=visitor.account.actor))


@router.post("/part")
async def part_sender(wish: SenderWish, visitor: Administering, store: StoreDep) -> PartingShape:
    """Make a sender a person of their own again."""
    who = read_identity(wish.sender)
    return PartingShape.from_parting(await store.part(who, by=visitor.account.actor))


@router.get("/{key}")
async def read_person(
    key: Key, _: Administering, store: StoreDep, response: Response
) -> PersonShape:
    """Read a person."""
    return _shown(response, await store.person(PersonKey(key)))


@router.patch("/{key}", responses=told(412, 428))
async def rename_person(
    key: Key,
    wish: PersonRenaming,
    visitor: Administering,
    store: StoreDep,
    *,
    response: Response,
    seen: IfMatch = None,
) -> PersonShape:
    """Rename a person."""
    person = await store.person(PersonKey(key))
    renamed = await store.rename_person(
        person.key, wish.name, by=visitor.account.actor, seen=seen_in(seen)
    )
    return _shown(response, renamed)


def _shown(response: Response, person: Person) -> PersonShape:
    tell_tag(response, person.revision)
    return PersonShape.from_person(person)
