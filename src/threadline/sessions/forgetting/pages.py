"""Pages and answers that repeat what is forgotten: they go with it, wherever they are kept."""

from threadline.core.event import EventKind
from threadline.sessions.chronicle import Chronicle
from threadline.sessions.forgetting.ledger import Work


def drop_pages(work: Work, chronicle: Chronicle) -> None:
    """Delete the shared pages of a session, and the answers to requests that may tell of it.

    A page is one piece: nobody can tell which of its words are to stay. So is a file that was
    written of it; it is deleted afterwards, by whoever can.
    """
    dropped = work.tx.all("drop_shares_of_session", session_key=chronicle.key)
    if dropped:
        chronicle.tell(EventKind.SHARE_CHANGED)
    work.counts["shares"] += len(dropped)
    work.tx.run("hush_outcomes_of_session", session_id=chronicle.id)
    work.tx.run("hush_outcomes_of_any")
    work.tx.run("add_output", forgetting_id=work.id, session_id=chronicle.id)
