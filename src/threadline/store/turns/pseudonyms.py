"""Pseudonyms: the hashes that stand for ids where agents read them, and the way back."""

from collections.abc import Collection

from msgspec.structs import replace

from threadline.core.address import Address
from threadline.core.deletion import Seal
from threadline.core.errors import NotFound
from threadline.core.pseudonyms import Pseudonymizer, PseudonymousAddress, find_hidden
from threadline.core.target import Target, parse_targets, target_of
from threadline.database.port import Database
from threadline.store.turns import turn_context


class _Secret:
    """The secret of the installation, which is read from its file once."""

    def __init__(self) -> None:
        self.seal: Seal | None = None


async def make_pseudonymizer(db: Database, spares: Collection[str] = ()) -> Pseudonymizer:
    """Return what hides ids from agents, except those of some platforms."""
    secret = db.environment.state(_Secret)
    if secret.seal is None:
        secret.seal = Seal(key=await db.secret())
    return Pseudonymizer(seal=secret.seal, spares=frozenset(spares))


async def reveal_targets(db: Database, targets: str) -> str:
    """Return the targets of a delivery with real ids, where hashes stand for them.

    A chat that is named in any other way stays as it is; a hash of no known chat is an error. The
    addresses of its platform are read for that, a page at a time.
    """
    parsed = parse_targets(targets)
    if not any(map(find_hidden, parsed)):
        return targets
    written = []
    for target in parsed:
        hidden = find_hidden(target)
        found = target if hidden is None else _target(await _find(db, hidden), hidden)
        written.append(str(found))
    return ",".join(written)


async def _find(db: Database, hidden: PseudonymousAddress) -> Address:
    veil, after = await make_pseudonymizer(db), 0
    while True:
        found, further = await db.read(turn_context.look_through, hidden, after, veil=veil)
        if found is not None:
            return found
        if further is None:
            break
        after = further
    raise NotFound(
        "No chat is known by this hash",
        id=f"{hidden.platform}:{hidden.chat}",
        hint="Use one that you were told of",
    )


def _target(address: Address, hidden: PseudonymousAddress) -> Target:
    """Return the target of an address by its real ids; its thread only if that was named."""
    return target_of(address if hidden.thread is not None else replace(address, thread=None))
