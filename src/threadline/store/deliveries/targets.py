"""Targets: the addresses that a target means now."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from threadline.core.address import Address
from threadline.core.delivery import LOCAL, DeliveryId
from threadline.core.errors import Invalid, NotFound, ThreadlineError
from threadline.core.event import EventKind
from threadline.core.message import Attachment
from threadline.core.target import (
    Target,
    TargetKind,
    likely_address,
    output_address,
    parse_targets,
    require_known,
    target_of,
)
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.deliveries.create import create_text_delivery
from threadline.store.gateways import list_gateways
from threadline.store.people.address_book import address_identity, remember_address
from threadline.store.session_writer import add_global_event


def set_home(tx: Transaction, address: Address, *, profile: str) -> None:
    """Make a chat the home of its platform, in the place of the one before."""
    key = remember_address(tx, address)
    tx.run(
        "set_home", profile=profile, platform=address.platform, address_key=key, now=stamp(tx.now)
    )
    add_global_event(tx, EventKind.HOME_CHANGED, key)


def list_homes(tx: Transaction, profile: str) -> Mapping[str, Address]:
    """List the homes that were chosen in the chats of a profile, by platform."""
    return {place.platform: place for place in tx.all("list_homes", Address, profile=profile)}


Homes = Mapping[str, Target]
"""The homes that the settings name; one that was chosen in a chat goes before."""
NO_HOMES: Homes = MappingProxyType({})


class ResolvedTargets(Struct, frozen=True, kw_only=True):
    """The addresses that were found for a target, and why others were not."""

    addresses: tuple[Address, ...]
    problems: tuple[str, ...] = ()


class TargetContext(Struct, frozen=True, kw_only=True):
    """From where a target is meant, and what is known there."""

    profile: str
    origin: Address | None = None
    """Where it was asked for; None: at the terminal."""
    platforms: Collection[str] | None = None
    """Those that there are; None: those that any gateway serves, or that somebody came from."""


class Sent(Struct, frozen=True, kw_only=True):
    """What was owed to the addresses of a target."""

    deliveries: tuple[tuple[DeliveryId, Address], ...]
    problems: tuple[str, ...] = ()


def resolve_targets(
    tx: Transaction,
    written: str,
    *,
    profile: str,
    origin: Address | None,
    platforms: Collection[str] | None = None,
) -> list[Address]:
    """Answer the addresses that a target means; one that cannot be found is an error."""
    around = TargetContext(profile=profile, origin=origin, platforms=platforms)
    return list(reach(tx, written, around, strictly=True).addresses)


def reach(
    tx: Transaction, written: str, around: TargetContext, *, strictly: bool = False
) -> ResolvedTargets:
    """Find the addresses that a target means, each once.

    Of several, some may not be found: that is an error when asked strictly, and else is told.
    """
    platforms = known_platforms(tx) if around.platforms is None else around.platforms
    homes = known_homes(tx, around.profile)
    found: dict[str, Address] = {}
    problems: list[str] = []
    for target in parse_targets(written):
        try:
            addresses, dead = _addresses(tx, target, around, platforms, homes)
        except ThreadlineError as error:
            if strictly:
                raise
            problems.append(str(error))
            continue
        found.update({_key(address): address for address in addresses})
        problems += dead
    return ResolvedTargets(addresses=tuple(found.values()), problems=tuple(problems))


def known_homes(tx: Transaction, profile: str) -> dict[str, Address]:
    """Find the home of every platform: chosen in a chat of the profile, else named by settings."""
    chosen = list_homes(tx, profile)
    named = tx.settings.homes
    others = {name: _chat(tx, home) for name, home in named.items() if name not in chosen}
    return {**others, **chosen}


def known_platforms(tx: Transaction) -> frozenset[str]:
    """Name the platforms that a gateway serves, or that anybody ever came from."""
    served = {name for gateway in list_gateways(tx) for name in gateway.platforms}
    return frozenset(served | {*tx.all("list_heard_platforms", str), LOCAL})


def send_words(
    tx: Transaction,
    written: str,
    text: str,
    around: TargetContext,
    *,
    attachments: Sequence[Attachment] = (),
) -> Sent:
    """Owe words to every address of a target."""
    if not text.strip() and not attachments:
        raise Invalid("The message is empty", hint="Write something, or attach a file")
    reached = reach(tx, written, around, strictly=True)
    if not reached.addresses:
        why = " ".join(reached.problems)
        raise NotFound(f"There is nobody to send this to. {why}".rstrip(), id=written)
    owed = tuple(
        (create_text_delivery(tx, address, text, attachments=attachments), address)
        for address in reached.addresses
    )
    return Sent(deliveries=owed, problems=reached.problems)


def _addresses(
    tx: Transaction,
    target: Target,
    around: TargetContext,
    platforms: Collection[str],
    homes: Mapping[str, Address],
) -> tuple[list[Address], list[str]]:
    match target.kind:
        case TargetKind.LOCAL:
            return [output_address(around.profile)], []
        case TargetKind.ORIGIN:
            return [_origin(around, platforms)], []
        case TargetKind.ALL:
            return _all_homes(tx, platforms, homes)
        case TargetKind.HOME:
            require_known(target.platform, platforms)
            return [_home(target.platform, homes)], []
        case TargetKind.CHAT:
            require_known(target.platform, platforms)
            return [_chat(tx, target)], []


def _origin(around: TargetContext, platforms: Collection[str]) -> Address:
    if around.origin is None or around.origin.platform == LOCAL:
        return output_address(around.profile)
    require_known(around.origin.platform, platforms)
    return around.origin


def _all_homes(
    tx: Transaction, platforms: Collection[str], homes: Mapping[str, Address]
) -> tuple[list[Address], list[str]]:
    if not homes:
        raise NotFound("No platform has a home", hint="Send /sethome in a chat to make it one")
    alive, problems = [], []
    for platform, home in sorted(homes.items()):
        death = tx.one("read_death", str, **address_identity(home))
        if platform not in platforms:
            problems.append(f"{platform} is not connected.")
        elif death is not None:
            why = death or "nothing can be sent there"
            problems.append(f"{target_of(home)} is dead: {why}".rstrip(".") + ".")
        else:
            alive.append(home)
    return alive, problems


def _home(platform: str, homes: Mapping[str, Address]) -> Address:
    if platform not in homes:
        raise NotFound(
            f"{platform} has no home",
            hint=f"Send /sethome in a chat there, or write {platform}:chat",
        )
    return homes[platform]


def _chat(tx: Transaction, target: Target) -> Address:
    known = tx.one(
        "find_places",
        Address,
        platform=target.platform,
        account=target.account,
        chat=target.chat,
        thread=target.thread or "",
    )
    return likely_address(target) if known is None else known


def _key(address: Address) -> str:
    return "\0".join(str(value) for value in address_identity(address).values())
