"""Pairing: a stranger is shown a code, and the owner lets in whoever shows it to them."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from threadline.core.access import (
    LOCKED_FOR,
    PAIRING_PAUSE,
    PAIRING_VALID,
    PENDING_PAIRINGS,
    WRONG_APPROVALS,
    Grant,
    Pairing,
    PairingCode,
)
from threadline.core.account import Actor
from threadline.core.address import Sender
from threadline.core.deletion import Seal
from threadline.core.errors import Refused
from threadline.core.event import EventKind
from threadline.core.person import (
    CODE_BITS,
    Identity,
    read_code,
    write_code,
)
from threadline.core.route import canonical_sender
from threadline.core.validation import checked_text
from threadline.database.port import Database, Transaction
from threadline.database.timestamps import stamp
from threadline.store.people.aliases import known_as
from threadline.store.people.grants import cleaned, grant_access
from threadline.store.session_writer import add_global_event

_CODE_LIMIT = 100


class _Stranger(Struct, frozen=True, kw_only=True):
    """Who was shown a code."""

    identity: Identity
    name: str | None


def is_askable(tx: Transaction, who: Identity, *, profile: str) -> bool:
    """Tell whether somebody would be shown a code if they asked now."""
    if _is_shut(tx, profile, who.platform):
        return False
    waiting = _waiting(tx, profile, who.platform)
    own = [one for one in waiting if one.identity.id == known_as(tx, who).id]
    if own:
        return tx.now >= own[0].asked_at + PAIRING_PAUSE
    return len(waiting) < PENDING_PAIRINGS


def ask_pairing(
    tx: Transaction, who: Identity, name: str | None, *, profile: str, seal: Seal
) -> PairingCode | None:
    """Make a code for somebody who wants to be let in; None: not now, and they are not told why.

    A code that they were shown before is worth nothing any more.
    """
    tx.run("lock_access", profile=profile)
    tx.run("drop_stale_pairings", profile=profile, now=stamp(tx.now))
    who = known_as(tx, who)
    if not is_askable(tx, who, profile=profile):
        return None
    code, expires_at = new_code(tx), tx.now + PAIRING_VALID
    tx.run(
        "put_pairing",
        profile=profile,
        platform=who.platform,
        sender_id=who.id,
        name=cleaned(name),
        code_hash=_hash(seal, profile, who.platform, code),
        now=stamp(tx.now),
        expires_at=stamp(expires_at),
    )
    add_global_event(tx, EventKind.ACCESS_CHANGED, None)
    return PairingCode(code=code, expires_at=expires_at)


def approve_pairing(
    tx: Transaction,
    code: str,
    platform: str | None,
    *,
    profile: str,
    seal: Seal,
    by: Actor | None = None,
) -> Grant | Refused:
    """Let in whoever was shown a code; each code lets somebody in only once.

    Without a platform it is tried on all on which somebody waits. One that is locked is left out.
    That a code is wrong is answered and not raised, because it has to be counted.
    """
    written = read_code(checked_text(code, "code", _CODE_LIMIT))
    tx.run("lock_access", profile=profile)
    tried = {platform} if platform is not None else _platforms(tx, profile)
    locked = {name for name in tried if _is_shut(tx, profile, name)}
    for name in sorted(tried - locked):
        shown = _hash(seal, profile, name, written)
        found = tx.one(
            "find_pairing",
            _Stranger,
            profile=profile,
            platform=name,
            code_hash=shown,
            now=stamp(tx.now),
        )
        if found is not None:
            act = "pairing.approved"
            return grant_access(tx, found.identity, found.name, profile=profile, by=by, act=act)
    for name in tried - locked:
        _count_mistake(tx, profile, name)
    return _refusal(sorted(locked), is_counted=tried != locked)


def _refusal(locked: Sequence[str], *, is_counted: bool) -> Refused:
    """Say why nobody was let in, but not whether a code is right that was not looked at."""
    shut = f"No code works for {', '.join(locked)}, as too many wrong ones were given"
    if locked and not is_counted:
        return Refused(shut, hint="Wait an hour, or use: threadline pair allow PLATFORM:ID")
    hint = shut if locked else "It is valid for an hour, and once"
    return Refused("This code is not valid", hint=hint)


def sweep_pairings(tx: Transaction) -> None:
    """Forget whoever was not let in in time, in all profiles."""
    tx.run("sweep_pairings", now=stamp(tx.now))


def pairings(tx: Transaction, *, profile: str) -> list[Pairing]:
    """List those who wait to be let in."""
    return tx.all("list_pairings", Pairing, profile=profile, now=stamp(tx.now))


def _platforms(tx: Transaction, profile: str) -> set[str]:
    return {one.identity.platform for one in pairings(tx, profile=profile)}


def _waiting(tx: Transaction, profile: str, platform: str) -> list[Pairing]:
    return [one for one in pairings(tx, profile=profile) if one.identity.platform == platform]


def _is_shut(tx: Transaction, profile: str, platform: str) -> bool:
    """Tell whether the latest wrong codes came within the span, and not as long ago as that."""
    times = tx.all(
        "list_mistakes", datetime, profile=profile, platform=platform, most=WRONG_APPROVALS
    )
    if len(times) < WRONG_APPROVALS:
        return False
    newest, oldest = times[0], times[-1]
    return newest - oldest <= LOCKED_FOR and tx.now < newest + LOCKED_FOR


def _count_mistake(tx: Transaction, profile: str, platform: str) -> None:
    tx.run("add_mistake", profile=profile, platform=platform, now=stamp(tx.now))
    before = stamp(tx.now - 2 * LOCKED_FOR)
    tx.run("drop_old_mistakes", profile=profile, platform=platform, before=before)


def _hash(seal: Seal, profile: str, platform: str, code: str) -> str:
    # With profile and platform, so that a code is worth nothing elsewhere.
    return seal.mark("pairing code", profile, platform, code)


def new_code(tx: Transaction) -> str:
    """Return a random code, as it is shown to a user."""
    return write_code((tx.new_id() << 32 | tx.new_id()) & ((1 << CODE_BITS) - 1))


async def request_pairing(
    db: Database, platform: str, sender: Sender, *, profile: str
) -> PairingCode | None:
    """Return a code that an unknown sender can show to the owner; None if they may not ask now.

    It is valid for an hour and once. Only its keyed hash is stored: show it at once, and only to
    that sender.
    """
    id = canonical_sender(platform, sender)
    if id is None:
        return None
    who = Identity(platform=platform, id=id)
    # Most who ask in a flood are told nothing, and cost a read only.
    if not await db.read(is_askable, who, profile=profile):
        return None
    seal = Seal(key=await db.secret())
    return await db.write(ask_pairing, who, sender.name, profile=profile, seal=seal)


async def use_pairing_code(
    db: Database, code: str, platform: str | None, *, profile: str, by: Actor | None = None
) -> Grant:
    """Admit the sender that was shown a code; raise `Refused` if it is not valid.

    After five wrong codes in an hour none is accepted for an hour, not even a right one.
    """
    seal = Seal(key=await db.secret())
    found = await db.write(approve_pairing, code, platform, profile=profile, seal=seal, by=by)
    if isinstance(found, Refused):
        raise found
    return found
