"""Integrity: whether a store keeps its own laws, beyond what a database can keep by itself."""

from collections.abc import Callable

from msgspec import Struct

from threadline.database.port import Finding, Transaction
from threadline.store.deletion.retention import list_stray_pieces
from threadline.store.deletion.tasks import list_unfinished
from threadline.store.formatting import count

_MOST = 5
_RESTORE = "Restore a backup, or export what can still be read"


class Invariant(Struct, frozen=True, kw_only=True):
    """Something that always holds, how offenders are found, and what to do about them."""

    broken: str
    offenders: Callable[[Transaction], list[str]]
    advice: str = _RESTORE
    grave: bool = True


LAWS = (
    Invariant(
        broken="lines that are not numbered without a gap",
        offenders=lambda tx: tx.all("find_gaps", str, most=_MOST),
    ),
    Invariant(
        broken="a cut where there is no line",
        offenders=lambda tx: tx.all("find_cuts_out_of_range", str, most=_MOST),
        advice="Undo, redo and compactions there may show the wrong lines",
    ),
    Invariant(
        broken="more shared history than its base has",
        offenders=lambda tx: tx.all("find_bad_bases", str, most=_MOST),
    ),
    Invariant(
        broken="bases that lead in a circle",
        offenders=lambda tx: tx.all("find_base_cycles", str, most=_MOST),
    ),
    Invariant(
        broken="a root that is none",
        offenders=lambda tx: tx.all("find_bad_roots", str, most=_MOST),
        advice="Its lineage may be shown wrongly; what was said is whole",
    ),
    Invariant(
        broken="a turn that nobody runs, or that stands after the last line",
        offenders=lambda tx: tx.all("find_bad_turns", str, most=_MOST),
        advice="Stop the turn",
    ),
    Invariant(
        broken="a reply that is owed in another session",
        offenders=lambda tx: tx.all("find_bad_deliveries", str, most=_MOST),
    ),
    Invariant(
        broken="leave for a tool in a session of another profile",
        offenders=lambda tx: tx.all("find_bad_allowances", str, most=_MOST),
        advice="Take it back",
    ),
    Invariant(
        broken="a login or a token of an account that has ended",
        offenders=lambda tx: tx.all("find_bad_logins", str, most=_MOST),
        advice="Nobody gets in with it",
        grave=False,
    ),
    Invariant(
        broken="a page that can be read after it was revoked",
        offenders=lambda tx: tx.all("find_bad_shares", str, most=_MOST),
        advice="Nobody is shown it",
        grave=False,
    ),
    Invariant(
        broken="pieces missing or too many",
        offenders=lambda tx: tx.all("find_torn_blobs", str, most=_MOST),
        advice="That attachment cannot be read; store it again",
    ),
    Invariant(
        broken="changes that the feed does not tell",
        offenders=lambda tx: tx.all("find_bad_feed", str, most=_MOST),
        advice="Screens that follow must load a snapshot again",
    ),
    Invariant(
        broken="the name of a session that is gone",
        offenders=lambda tx: tx.all("find_ghosts", str, most=_MOST),
        advice="It does no harm",
        grave=False,
    ),
)


def check_laws(tx: Transaction) -> list[Finding]:
    """Look through the whole store for what should never be."""
    found = []
    for law in LAWS:
        ids = law.offenders(tx)
        if ids:
            named = ", ".join(ids[: _MOST - 1])
            more = ", …" if len(ids) == _MOST else ""
            what = f"{named}{more}: {law.broken}. {law.advice}."
            found.append(Finding(what=what, grave=law.grave))
    return found


def check_leavings(tx: Transaction) -> list[Finding]:
    """Tell what was begun and not finished."""
    found = []
    if begun := list_unfinished(tx):
        what = f"{count(len(begun), 'forgetting')} not finished: traces of it may be left."
        found.append(Finding(what=f"{what} Run: threadline forget finish.", grave=False))
    if strays := list_stray_pieces(tx):
        what = f"{count(len(strays), 'attachment')} of which only pieces came."
        found.append(Finding(what=f"{what} A running gateway sweeps them.", grave=False))
    return found
