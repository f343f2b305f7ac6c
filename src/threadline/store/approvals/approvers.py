"""Approvers: who may approve the tools that a turn asks about, and the chats where they are asked.

Whether a sender may approve is always asked in the transaction that stores the answer.
"""

import hashlib

from msgspec import Struct

from threadline.core.access import ADMINS, AccessRules, ids_of, rank_of, spoken_again
from threadline.core.access_level import AccessLevel
from threadline.core.account import Actor, member_of
from threadline.core.address import Address, Sender
from threadline.core.agent import Question
from threadline.core.approval import Approval, PermissionDuration, name_question, reveal
from threadline.core.delivery import is_carried_out
from threadline.core.errors import Refused
from threadline.core.inbound import Inbound
from threadline.core.markdown_export import fence_code
from threadline.core.person import Identity, Viewer
from threadline.core.settings import Settings
from threadline.core.turn import Awaits, Turn, TurnId
from threadline.core.validation import clean_title
from threadline.database.port import Transaction, expect
from threadline.store.accounts.accounts import note_act, read_account, share_account
from threadline.store.accounts.tokens import may_administer
from threadline.store.audit import note_audit
from threadline.store.deliveries.buttons import offer_answers
from threadline.store.deliveries.create import QuestionNotice, create_text_delivery
from threadline.store.deliveries.targets import known_homes
from threadline.store.formatting import listed, span
from threadline.store.people import grants
from threadline.store.people.address_book import address_identity, remember_address
from threadline.store.people.aliases import known_as
from threadline.store.people.grants import TurnRequester

_HASH_SIGNS = 16


class ApprovalRouting(Struct, frozen=True, kw_only=True):
    """Who has to answer a question, and the other chats to which it goes for that."""

    question: Question
    """What is said where the turn was asked for."""
    awaits: Awaits | None = None
    places: tuple[Address, ...] = ()
    requester: str = ""


class _AskedTurn(Struct, frozen=True, kw_only=True):
    """The session of a turn, and how many questions it has asked."""

    session_key: int
    questions: int


def plan_question(
    tx: Transaction, turn_id: TurnId, question: Question, *, profile: str
) -> ApprovalRouting:
    """Decide who has to answer a question of a turn.

    If the sender whose message it answers may, it is asked in place. Else it goes to the chats of
    approvers, and that sender is told that it waits for one of them.
    """
    if not question.tools:
        return ApprovalRouting(question=question)
    if question.reads_only:
        return ApprovalRouting(question=question, awaits=Awaits.REQUESTER)
    if tx.settings.approvers_for(profile).include_requester:
        return ApprovalRouting(question=question)
    asked = grants.requesters(tx, turn_id)
    if any(_approves(tx, one) for one in asked):
        return ApprovalRouting(question=question)
    here = [address_identity(one.address) for one in asked]
    places = list_places(tx, profile)
    for place in places:
        remember_address(tx, place)  # Before any session is locked.
    if any(address_identity(place) in here for place in places):
        return ApprovalRouting(question=question, awaits=Awaits.APPROVER)
    notice = QuestionNotice(text=f"{_tell_waiting(places, tx.settings)}\n\n{question.text}")
    return ApprovalRouting(
        question=notice if asked else question,
        awaits=Awaits.APPROVER,
        places=tuple(places),
        requester=_name(asked[0]) if asked else "",
    )


def ask_elsewhere(
    tx: Transaction, turn_id: TurnId, plan: ApprovalRouting, question: Question
) -> None:
    """Send a question to the chats of approvers. No session may be locked by a writer."""
    asked = expect(tx, "read_question_of_turn", _AskedTurn, turn_id=turn_id)
    name = name_question(turn_id, asked.questions)
    who = f"{fence_code(plan.requester)}\n" if plan.requester else ""
    text = f"Someone asks for this, and you may approve it:\n{who}\n{question.text}\n\n"
    text = f"{text}/approve {name} or /deny {name}"
    for place in plan.places:
        create_text_delivery(
            tx,
            place,
            text,
            choices=offer_answers(name, question, place.kind),
            session_key=asked.session_key,
        )


def tell_expired(tx: Transaction, turn: Turn, at: Address, *, profile: str) -> None:
    """Tell the requester and the approvers that a question was denied as it was not answered."""
    key = expect(tx, "read_question_of_turn", _AskedTurn, turn_id=turn.id).session_key
    text = (
        f"No approver answered within {span(tx.settings.answer_within)}, so this was denied: "
        f"{listed(turn.asks)} (turn {turn.id})."
    )
    for place in [at, *list_places(tx, profile)]:
        if is_carried_out(place.platform):
            create_text_delivery(tx, place, text, session_key=key)


def list_places(tx: Transaction, profile: str) -> list[Address]:
    """Return the chats in which approvers of a profile are asked, each once.

    That is the home of each platform on which an approver is named. Without a home it is the
    direct chat in which that approver spoke last.
    """
    approvers, homes = tx.settings.approvers_for(profile), known_homes(tx, profile)
    senders = set(approvers.senders)
    if ADMINS in approvers.named and tx.settings.access is not None:
        pairs = (entry.split(":", 1) for entry in tx.settings.access.admins)
        senders |= {Identity(platform=platform, id=id) for platform, id in pairs}
    found: dict[str, Address] = {}
    for who in sorted(senders, key=str):
        place = homes.get(who.platform) or _direct_chat(tx, who, profile)
        if place is not None and is_carried_out(place.platform):
            found.setdefault(str(address_identity(place)), place)
    return list(found.values())


def _direct_chat(tx: Transaction, who: Identity, profile: str) -> Address | None:
    known = known_as(tx, who)
    return tx.one(
        "find_direct_chat", Address, platform=known.platform, id=known.id, profile=profile
    )


def needs_approver(turn: Turn, profile: str, rules: Settings) -> bool:
    """Return whether only an approver may say yes to what a turn asks, by the rules of now."""
    if not turn.asks or turn.awaits is Awaits.REQUESTER:
        return False
    return not rules.approvers_for(profile).include_requester


def is_approver(tx: Transaction, inbound: Inbound, rank: AccessLevel) -> bool:
    """Return whether the sender of a message may approve tools that change something."""
    platform, profile = inbound.address.platform, inbound.profile
    ids = ids_of(platform, inbound.sender)
    known = grants.standing(tx, platform, ids, profile=profile).ids if ids else frozenset()
    rank = confirm_rank(tx, inbound, rank)
    return tx.settings.approvers_for(profile).include(rank, platform, ids | known)


def confirm_rank(tx: Transaction, inbound: Inbound, rank: AccessLevel) -> AccessLevel:
    """Return the rank that a sender has in this transaction; it is at most the given one.

    A sender who uses a token that may not administer is a member.
    """
    platform, sender = inbound.address.platform, inbound.sender
    if _has_ended(tx, platform, sender):
        return AccessLevel.STRANGER
    is_restricted = inbound.token is not None and not may_administer(tx, inbound.token)
    if is_restricted and rank.may(AccessLevel.MEMBER):
        rank = AccessLevel.MEMBER
    if tx.settings.access is None:
        return rank
    ids = ids_of(platform, sender)
    standing = grants.standing(tx, platform, ids, profile=inbound.profile)
    now = rank_of(inbound, tx.settings.access, standing)
    return rank if now.may(rank) else now


def require_approver(tx: Transaction, turn: Turn, inbound: Inbound, rank: AccessLevel) -> None:
    """Refuse an approval by a sender who may not give it, or for one who may no longer speak."""
    if not turn.asks:
        return
    if (key := member_of(inbound.address.platform, inbound.sender.id or "")) is not None:
        share_account(tx, key)  # It is not ended until this is stored.
    if needs_approver(turn, inbound.profile, tx.settings) and not is_approver(tx, inbound, rank):
        raise Refused(
            "This waits for an approver", hint="/deny takes the request back", id=str(turn.id)
        )
    asked = grants.requesters(tx, turn.id)
    if asked and not any(_may_speak(tx, one) for one in asked):
        raise Refused(
            "The sender who asked for this may no longer speak here, so it cannot be approved",
            id=str(turn.id),
            hint="Deny it",
        )


def note_decision(
    tx: Transaction,
    by: Inbound | Viewer,
    turn: Turn,
    approval: Approval,
    *,
    extent: PermissionDuration = PermissionDuration.ONCE,
) -> None:
    """Write into the audit log who approved or denied what, for which turn, and for how long.

    What was shown is named by its hash, as it may contain secrets.
    """
    if turn.asks:
        scope = f" {extent}" if approval is Approval.APPROVED else ""
        subject = f"{_asked_by(turn)}{scope}"
        note_act(tx, by.address, by.sender, f"tool.{approval}", subject, token=by.token)


def note_expiry(tx: Transaction, turn: Turn) -> None:
    """Write into the audit log that a question was denied as it was not answered in time."""
    note_audit(tx, Actor(), f"tool.{Approval.DENIED}", f"{_asked_by(turn)} unanswered")


def _asked_by(turn: Turn) -> str:
    shown = hashlib.sha256((turn.question or "").encode()).hexdigest()[:_HASH_SIGNS]
    return f"turn {turn.id} of {turn.session_id}, shown {shown}: {listed(turn.asks)}"


def _approves(tx: Transaction, asked: TurnRequester) -> bool:
    rank, platform = _rank(tx, asked), asked.address.platform
    ids = asked.standing.ids | ids_of(platform, asked.sender)
    return tx.settings.approvers_for(asked.profile).include(rank, platform, ids)


def _may_speak(tx: Transaction, asked: TurnRequester) -> bool:
    return _rank(tx, asked).may(AccessLevel.MEMBER)


def _rank(tx: Transaction, asked: TurnRequester) -> AccessLevel:
    """Return the rank of a sender who asked; without rules of access, whoever asked may speak."""
    if _has_ended(tx, asked.address.platform, asked.sender):
        return AccessLevel.STRANGER
    access = tx.settings.access or AccessRules()
    inbound = spoken_again(
        asked.address, asked.sender, asked.voucher, access, profile=asked.profile, at=tx.now
    )
    rank = rank_of(inbound, access, asked.standing)
    return (
        rank
        if tx.settings.access is not None or rank.may(AccessLevel.MEMBER)
        else AccessLevel.MEMBER
    )


def _has_ended(tx: Transaction, platform: str, sender: Sender) -> bool:
    """Return whether a sender is a member of the web app whose account was ended."""
    key = member_of(platform, sender.id or "")
    return key is not None and read_account(tx, key).ended_at is not None


def _name(asked: TurnRequester) -> str:
    who = f"{asked.address.platform}:{asked.sender.id}"
    name = clean_title(asked.sender.name or "")
    return " ".join(reveal(f"{name} ({who})" if name else who).split())


def _tell_waiting(places: list[Address], rules: Settings) -> str:
    where = (
        f"They were asked on {listed(sorted({place.platform for place in places}))}, and can also"
        " answer in the web app."
        if places
        else "No approver can be reached in a chat, so it waits in the web app."
    )
    until = span(rules.answer_within)
    return f"Waiting for an approver. {where} Without an answer it is denied after {until}."
