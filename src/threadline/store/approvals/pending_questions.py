"""Pending questions: what waiting turns ask, where they were asked, and who may answer."""

from datetime import datetime

from msgspec import Struct

from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind
from threadline.core.approval import name_question
from threadline.core.delivery import DeliveryId
from threadline.core.errors import Refused
from threadline.core.inbound import Inbound
from threadline.core.route import is_multi_user
from threadline.core.turn import TurnId
from threadline.database.port import Transaction
from threadline.store.people.address_book import look_up
from threadline.store.people.aliases import resolve_inbound
from threadline.store.session_writer import NO_SESSION

_DIGITS = 18
"""A longer number is no turn."""


class OpenQuestion(Struct, frozen=True, kw_only=True):
    """What a turn asks at the moment."""

    turn_id: TurnId
    nth: int
    asked_at: datetime

    @property
    def name(self) -> str:
        """What its buttons call it."""
        return name_question(self.turn_id, self.nth)


class _TurnAsker(Struct, frozen=True, kw_only=True):
    """Whose words a turn answers, and which person that is."""

    sender_key: int
    person_key: int | None


class _Question(Struct, frozen=True, kw_only=True):
    """What a turn asks, in a session or where it asked it."""

    id: TurnId
    session_key: int
    beside: int
    asked_at: datetime
    questions: int


class LastQuestion(Struct, frozen=True, kw_only=True):
    """The last question that a conversation asked at a place where it does not go on."""

    turn_id: TurnId
    session_key: int
    delivery_id: DeliveryId | None
    """What carried it there."""


class Respondent(Struct, frozen=True, kw_only=True):
    """Somebody who may be the one to answer a question, and where they are."""

    address: Address
    sender_key: int | None
    person_key: int | None
    rank: AccessLevel
    address_key: int | None = None

    def is_one_of(self, askers: list[_TurnAsker]) -> bool:
        """Return whether they are among those whose words a turn answers."""
        return any(
            (self.sender_key is not None and one.sender_key == self.sender_key)
            or (self.person_key is not None and one.person_key == self.person_key)
            for one in askers
        )


def find_respondent(tx: Transaction, inbound: Inbound, rank: AccessLevel) -> Respondent:
    """Tell who gives a command, as far as they are known."""
    known = look_up(tx, resolve_inbound(tx, inbound), inbound.address)
    return Respondent(
        address=inbound.address,
        sender_key=known.sender_key,
        person_key=known.person_key,
        rank=rank,
        address_key=known.address_key,
    )


def may_answer(tx: Transaction, turn_id: TurnId, who: Respondent, *, is_theirs: bool) -> bool:
    """Tell whether a question is theirs to answer; `is_theirs`: their conversation asks it.

    In a dm, and where each has a conversation of their own, it is for whose that is. Where several
    share one, it is for whoever the turn answers, or for an admin. What nobody there asked for, as
    the owner's job, an admin answers.
    """
    if who.address.kind is Kind.DM:
        return True
    is_shared = is_multi_user(who.address, tx.settings.scopes_for(who.address.platform))
    if is_theirs and not is_shared:
        return who.sender_key is not None
    # A turn that answers once more has no words of its own, but those that were said before it.
    askers = tx.all("list_askers", _TurnAsker, turn_id=turn_id)
    askers = askers or tx.all("find_asker_before", _TurnAsker, turn_id=turn_id)
    if who.is_one_of(askers):
        return True
    return who.rank.may(AccessLevel.ADMIN) and (is_shared or not askers)


def list_open(
    tx: Transaction, inbound: Inbound, rank: AccessLevel, *, session_key: int | None
) -> list[OpenQuestion]:
    """List the questions that somebody may answer from where they are.

    That of their conversation comes first, then those that others asked here, as a job or the
    background, the latest before the earlier ones.
    """
    who = find_respondent(tx, inbound, rank)
    asked: list[OpenQuestion] = []
    refused = False
    own = NO_SESSION if session_key is None else session_key
    questions = tx.all("list_questions", _Question, session_key=own, address_key=who.address_key)
    for one in questions:
        is_theirs = one.session_key == own
        if may_answer(tx, one.id, who, is_theirs=is_theirs):
            asked.append(OpenQuestion(turn_id=one.id, nth=one.questions, asked_at=one.asked_at))
        elif is_theirs:
            refused = True
    if refused and not asked:
        raise Refused("Only whoever was asked, or an admin, can answer this")
    return asked


def find_named(tx: Transaction, turn: str, nth: str, *, profile: str) -> OpenQuestion | None:
    """Find what a turn of a profile asks leave for, by the name of the question."""
    if max(len(turn), len(nth)) > _DIGITS:
        return None
    return tx.one("find_asking_turn", OpenQuestion, id=int(turn), nth=int(nth), profile=profile)


def find_last_said(tx: Transaction, address_key: int) -> LastQuestion | None:
    """Find the question of another conversation that was the last thing said at a place."""
    asked = tx.one("find_question_beside", LastQuestion, address_key=address_key)
    if asked is None or asked.delivery_id is None:
        return None
    is_over = tx.exists("find_said_since", address_key=address_key, id=asked.delivery_id)
    return None if is_over else asked
