"""Visibility: who is meant, and who may see a session. Every read and every command asks here."""

import json
from collections.abc import Callable, Collection
from typing import Concatenate, ParamSpec, TypeVar

from msgspec import Struct

from threadline.core.account import Account
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import NotFound
from threadline.core.person import Identity, PersonKey, Viewer
from threadline.core.route import canonical_sender
from threadline.core.session import SessionId
from threadline.core.validation import checked_type
from threadline.database.port import SqlValue, Transaction
from threadline.store.people.aliases import resolve_aliases

P = ParamSpec("P")
T = TypeVar("T")


class OwnedSession(Struct, frozen=True, kw_only=True):
    """Whose a session is, and in which chat it was opened."""

    key: int
    id: SessionId
    profile: str
    kind: Kind
    sender_key: int | None
    address_key: int
    platform: str
    account: str
    chat: str


class FoundSender(Struct, frozen=True, kw_only=True):
    """A sender whom the store knows, and the person that they are."""

    key: int
    person_key: PersonKey | None


class PersonSender(Struct, frozen=True, kw_only=True):
    """One of the senders who are the same person."""

    key: int
    platform: str
    id: str
    name: str | None
    person_key: PersonKey | None


class AskerKeys(Struct, frozen=True, kw_only=True):
    """An asker as the store knows them, within one transaction."""

    profile: str
    sees_all: bool
    """The owner of the installation: everything in the profile may be seen."""
    sender_key: int | None = None
    person_key: int | None = None
    sender_keys: frozenset[int] = frozenset()
    """Themselves, and whoever is the same person; none if the store never heard of them."""
    chat: tuple[str, str, str] | None = None
    """Platform, account and chat that they ask from; None in a direct message."""

    def admits(self, session: OwnedSession) -> bool:
        """Return whether a session may be seen; if that cannot be proven, it may not.

        The queries that choose rows for an asker say the same in SQL.
        """
        if session.profile != self.profile:
            return False
        if self.sees_all:
            return True
        if session.sender_key is not None:
            return session.sender_key in self.sender_keys
        # The owner of a dm without a sender cannot be proven.
        return self.is_in_chat(session)

    def is_in_chat(self, session: OwnedSession) -> bool:
        """Return whether a session was opened in the group or channel that they ask from."""
        if self.chat is None or session.kind is Kind.DM:
            return False
        return self.chat == (session.platform, session.account, session.chat)

    def values(self) -> dict[str, SqlValue]:
        """Give the values of the queries that choose rows for an asker who does not see all.

        A session is theirs if its sender is one of `senders` with this key or this person, or if
        it has none and its address is in this chat, and no dm. What is None chooses nothing.
        """
        platform, account, chat = self.chat or (None, None, None)
        return {
            "sender_key": self.sender_key,
            "person_key": self.person_key,
            "platform": platform,
            "account": account,
            "chat": chat,
        }


def list_person_senders(tx: Transaction, who: Identity) -> list[PersonSender]:
    """List everybody who is the same person, whichever of their ids is given; maybe nobody."""
    return tx.all("list_senders_like", PersonSender, platform=who.platform, id=who.id)


def keys_of(tx: Transaction, who: Identity | PersonKey) -> list[int]:
    """List the keys of everybody who is the same person; none: we know of nobody."""
    if isinstance(who, Identity):
        return [sender.key for sender in list_person_senders(tx, who)]
    return tx.all("list_sender_keys", int, person_key=who)


def keys_asked(tx: Transaction, who: Identity | PersonKey | None) -> str | None:
    """Write the same as a JSON list, for a query; None: everybody is meant."""
    return None if who is None else json.dumps(keys_of(tx, who))


def asker_keys(tx: Transaction, asker: Viewer) -> AskerKeys:
    """Find out who asks: their senders, and the chat they ask from."""
    if asker.address is None or asker.sees_all:
        return AskerKeys(profile=asker.profile, sees_all=asker.sees_all)
    address, sender = resolve_aliases(tx, asker.address, asker.sender)
    found = find_sender(tx, address, sender)
    key = None if found is None else found.key
    person_key = None if found is None else found.person_key
    together = [] if person_key is None else keys_of(tx, person_key)
    own = frozenset() if key is None else frozenset({key})
    is_dm = address.kind is Kind.DM
    return AskerKeys(
        profile=asker.profile,
        sees_all=False,
        sender_key=key,
        person_key=person_key,
        sender_keys=own.union(together),
        chat=None if is_dm else (address.platform, address.account, address.chat),
    )


def may_see(tx: Transaction, asker: Viewer, id: SessionId) -> bool:
    """Tell whether a session is the asker's own, or everybody's in the asker's chat."""
    return is_seen(tx, asker_keys(tx, asker), id)


def list_seen(tx: Transaction, asker: Viewer, ids: Collection[SessionId]) -> frozenset[SessionId]:
    """Name those of some sessions that an asker may see."""
    return list_seen_by(tx, [asker], ids)[asker]


def list_seen_by(
    tx: Transaction, askers: Collection[Viewer], ids: Collection[SessionId]
) -> dict[Viewer, frozenset[SessionId]]:
    """Name the same for many askers; each session and each asker is read once."""
    sessions = find_all_owned(tx, ids)
    seen = {}
    for asker in askers:
        keys = asker_keys(tx, asker)
        seen[asker] = frozenset(one.id for one in sessions if keys.admits(one))
    return seen


def is_seen(tx: Transaction, keys: AskerKeys, id: SessionId) -> bool:
    """Tell the same for an asker whose keys are known, where many sessions are asked about."""
    session = find_owned(tx, id)
    return session is not None and keys.admits(session)


def find_owned(tx: Transaction, id: SessionId) -> OwnedSession | None:
    """Return whose a session is, or None if there is no such session."""
    return tx.one("read_owner", OwnedSession, id=id)


def find_all_owned(tx: Transaction, ids: Collection[SessionId]) -> list[OwnedSession]:
    """Return whose each of some sessions is, of those that there are."""
    return tx.all("find_owners", OwnedSession, ids=json.dumps(list(ids)))


def read_visible(
    tx: Transaction,
    viewer: Account | None,
    read: Callable[Concatenate[Transaction, SessionId, P], T],
    id: SessionId,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Read of a session what a viewer may see; of any other it is not told that it exists.

    Both happen in one transaction: nobody reads what was taken from them in between.
    """
    if viewer is not None and not is_shown(tx, checked_type(viewer, "viewer", Account), id):
        raise NotFound("There is no such session", id=id)
    return read(tx, id, *args, **kwargs)


def is_shown(tx: Transaction, viewer: Account, id: SessionId) -> bool:
    """Return whether an account may see a session."""
    session = find_owned(tx, id)
    if session is None or not viewer.knows(session.profile):
        return False
    return asker_keys(tx, viewer.asker(session.profile)).admits(session)


def list_visible(
    tx: Transaction, viewer: Account, ids: Collection[SessionId]
) -> dict[SessionId, Kind]:
    """Name those of some sessions that a viewer may see, and of what kind each is."""
    sessions = find_all_owned(tx, ids)
    askers = {
        profile: asker_keys(tx, viewer.asker(profile))
        for profile in {one.profile for one in sessions}
        if viewer.knows(profile)
    }
    return {
        one.id: one.kind
        for one in sessions
        if (keys := askers.get(one.profile)) is not None and keys.admits(one)
    }


def sender_key_of(tx: Transaction, address: Address, sender: Sender) -> int | None:
    """Find a sender; None if the store has never heard of them."""
    found = find_sender(tx, *resolve_aliases(tx, address, sender))
    return None if found is None else found.key


def find_sender(tx: Transaction, address: Address, sender: Sender) -> FoundSender | None:
    """Find a sender by the id we go by; None if the store has never heard of them."""
    asked = canonical_sender(address.platform, sender)
    return None if asked is None else find_sender_by_id(tx, address.platform, asked)


def find_sender_by_id(tx: Transaction, platform: str, id: str) -> FoundSender | None:
    """Find a sender by the id that the store goes by."""
    return tx.one("find_sender", FoundSender, platform=platform, id=id)
