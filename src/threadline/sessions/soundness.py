"""Soundness: whether a store keeps its own laws, beyond what a database can keep by itself."""

from collections.abc import Callable
from dataclasses import dataclass

from threadline.sessions.forgetting.ledger import list_unfinished
from threadline.sessions.phrases import count
from threadline.sessions.retention import list_stray_pieces
from threadline.storage.database import Finding, Row, Transaction

_MOST = 5
_RESTORE = "Restore a backup, or export what can still be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """Something that always holds, how offenders are found, and what to do about them."""

    broken: str
    offenders: Callable[[Transaction], list[Row]]
    advice: str = _RESTORE
    grave: bool = True


LAWS = (
    Law(
        broken="lines that are not numbered without a gap",
        offenders=lambda tx: tx.all("find_gaps", most=_MOST),
    ),
    Law(
        broken="a cut where there is no line",
        offenders=lambda tx: tx.all("find_cuts_out_of_range", most=_MOST),
        advice="Undo, redo and compactions there may show the wrong lines",
    ),
    Law(
        broken="more shared history than its base has",
        offenders=lambda tx: tx.all("find_bad_bases", most=_MOST),
    ),
    Law(
        broken="bases that lead in a circle",
        offenders=lambda tx: tx.all("find_base_cycles", most=_MOST),
    ),
    Law(
        broken="a root that is none",
        offenders=lambda tx: tx.all("find_bad_roots", most=_MOST),
        advice="Its lineage may be shown wrongly; what was said is whole",
    ),
    Law(
        broken="a turn that nobody runs, or that stands after the last line",
        offenders=lambda tx: tx.all("find_bad_turns", most=_MOST),
        advice="Stop the turn",
    ),
    Law(
        broken="a reply that is owed in another session",
        offenders=lambda tx: tx.all("find_bad_deliveries", most=_MOST),
    ),
    Law(
        broken="leave for a tool in a session of another profile",
        offenders=lambda tx: tx.all("find_bad_allowances", most=_MOST),
        advice="Take it back",
    ),
    Law(
        broken="a login or a token of an account that has ended",
        offenders=lambda tx: tx.all("find_bad_logins", most=_MOST),
        advice="Nobody gets in with it",
        grave=False,
    ),
    Law(
        broken="a page that can be read after it was revoked",
        offenders=lambda tx: tx.all("find_bad_shares", most=_MOST),
        advice="Nobody is shown it",
        grave=False,
    ),
    Law(
        broken="pieces missing or too many",
        offenders=lambda tx: tx.all("find_torn_blobs", most=_MOST),
        advice="That attachment cannot be read; store it again",
    ),
    Law(
        broken="changes that the feed does not tell",
        offenders=lambda tx: tx.all("find_bad_feed", most=_MOST),
        advice="Screens that follow must load a snapshot again",
    ),
    Law(
        broken="the name of a session that is gone",
        offenders=lambda tx: tx.all("find_ghosts", most=_MOST),
        advice="It does no harm",
        grave=False,
    ),
)


def check_laws(tx: Transaction) -> list[Finding]:
    """Look through the whole store for what should never be."""
    found = []
    for law in LAWS:
        rows = law.offenders(tx)
        if rows:
            named = ", ".join(row.text("id") for row in rows[: _MOST - 1])
            more = ", …" if len(rows) == _MOST else ""
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
