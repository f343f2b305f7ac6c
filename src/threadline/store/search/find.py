"""Finding: the lines and titles that say something, of those that the asker may see."""

import json
from datetime import datetime

from msgspec import Struct

from threadline.core.errors import NotFound
from threadline.core.message import MessageKey, Role
from threadline.core.person import Viewer
from threadline.core.search import SPOKEN, Found, Hit, Phrase, Query, SearchFilter, TitleHit
from threadline.core.session import SessionId
from threadline.core.validation import COUNT_LIMIT
from threadline.database.port import SqlValue, Transaction
from threadline.database.timestamps import stamp
from threadline.store.people.visibility import (
    AskerKeys,
    OwnedSession,
    asker_keys,
    find_owned,
    keys_asked,
)
from threadline.store.search.index import count_waiting
from threadline.store.search.matcher import cut_snippet, says
from threadline.store.search.terms import lines_asked, owner_word, titles_asked

TITLES = 20
UNINDEXED_MOST = 5_000
"""Lines that the index does not know yet and that a search looks through all the same."""
_OWNERS_MOST = 64
"""Owners by whose words lines are passed by; with more of them it does not pay."""
_END_OF_TIME = 2**62


class _FoundLine(Struct, frozen=True, kw_only=True):
    """A message that may be what is searched, and the session in which it can be seen."""

    key: MessageKey
    seq: int
    role: Role
    at: datetime
    text: str
    session_id: SessionId
    title: str | None


class _FoundTitle(Struct, frozen=True, kw_only=True):
    """A session whose title may be what is searched."""

    id: SessionId
    title: str
    last_activity_at: datetime


def find(
    tx: Transaction,
    query: Query,
    *,
    asker: Viewer,
    where: SearchFilter,
    skip: int,
    most: int,
    behind: int = COUNT_LIMIT,
) -> Found | None:
    """Find what the asker may see: in titles, in what was just said, and in all the rest.

    None, if the index is further `behind` than that.
    """
    waiting = count_waiting(tx)
    if waiting > behind:
        return None
    keys = asker_keys(tx, asker)
    session = _session(tx, keys, where)
    owners = _owners(tx, keys, session)
    if owners is not None and not owners:
        return Found()  # Nobody has ever heard of the asker, so nothing is theirs.
    values = _values(tx, keys, where, None if session is None else session.key)
    fresh = tx.all("search_unindexed", _FoundLine, most=UNINDEXED_MOST, **values) if waiting else []
    lines = [line for line in fresh if says(line.text, query)]
    wanted = skip + most + 1
    if len(lines) < wanted:
        lines += _indexed(tx, query, owners, values, wanted - len(lines))
    wants_titles = skip == 0 and where.roles is None
    return Found(
        sessions=_titles(tx, query, owners, values, waiting=waiting) if wants_titles else (),
        hits=[
            _hit(line, query, rank)
            for rank, line in enumerate(lines[skip : skip + most], start=skip + 1)
        ],
        next=skip + most if len(lines) > skip + most else None,
        is_complete=len(fresh) < UNINDEXED_MOST,
    )


def _indexed(
    tx: Transaction,
    query: Query,
    owners: frozenset[str] | None,
    values: dict[str, SqlValue],
    wanted: int,
) -> list[_FoundLine]:
    """Read the lines that the index found, until there are enough that really say it."""
    asked = lines_asked(query, owners)
    by_words = asked["matching"] is not None
    is_sure = _is_sure(query)
    lines: list[_FoundLine] = []
    skip, most = 0, wanted
    while True:
        page = tx.all(
            "search_words" if by_words else "search_grams",
            _FoundLine,
            skip=skip,
            most=most,
            **asked,
            **values,
        )
        lines += [line for line in page if is_sure or says(line.text, query)]
        if len(lines) >= wanted or len(page) < most:
            return lines[:wanted]
        skip, most = skip + most, most * 4


def _is_sure(query: Query) -> bool:
    """Tell whether the index answers exactly this, so that the texts need not be read again."""
    return not query.unwanted and all(
        isinstance(term, Phrase) and len(term.words) == 1 for term in query.wanted
    )


def _titles(
    tx: Transaction,
    query: Query,
    owners: frozenset[str] | None,
    values: dict[str, SqlValue],
    *,
    waiting: int,
) -> list[TitleHit]:
    asked = titles_asked(query, owners)
    found: list[_FoundTitle] = []
    if waiting:
        found = tx.all("search_unindexed_titles", _FoundTitle, most=UNINDEXED_MOST, **values)
    found += tx.all("search_titles", _FoundTitle, most=TITLES * 4, **asked, **values)
    return [
        TitleHit(
            session_id=one.id,
            title=cut_snippet(one.title, query),
            last_activity_at=one.last_activity_at,
        )
        for one in found
        if says(one.title, query)
    ][:TITLES]


def _hit(line: _FoundLine, query: Query, rank: int) -> Hit:
    return Hit(
        session_id=line.session_id,
        seq=line.seq,
        key=line.key,
        role=line.role,
        at=line.at,
        title=line.title,
        snippet=cut_snippet(line.text, query),
        rank=rank,
    )


def _values(
    tx: Transaction, keys: AskerKeys, where: SearchFilter, session_key: int | None
) -> dict[str, SqlValue]:
    """Give the values by which all queries of a search choose rows."""
    platform, account, chat = keys.chat or (None, None, None)
    return {
        "profile": keys.profile,
        "sees_all": int(keys.sees_all),
        "sender_keys": json.dumps(sorted(keys.sender_keys)),
        "chat_platform": platform,
        "chat_account": account,
        "chat": chat,
        "session_key": session_key,
        "platform": where.platform,
        "kind": where.kind,
        "project_key": where.project,
        "archived": None if where.is_archived is None else int(where.is_archived),
        "roles": f",{','.join(where.roles or SPOKEN)},",
        "since": -_END_OF_TIME if where.since is None else stamp(where.since),
        "until": _END_OF_TIME if where.until is None else stamp(where.until),
        "whose": keys_asked(tx, where.person or where.sender),
    }


def _owners(
    tx: Transaction, keys: AskerKeys, session: OwnedSession | None
) -> frozenset[str] | None:
    """Name those whose lines alone can be meant; None, where that is everybody, or too many."""
    if session is not None:
        return frozenset(
            {owner_word(sender_key=session.sender_key, address_key=session.address_key)}
        )
    if keys.sees_all:
        return None
    owners = {owner_word(sender_key=key) for key in keys.sender_keys}
    if keys.chat is not None:
        platform, account, chat = keys.chat
        owners |= {
            owner_word(address_key=key)
            for key in tx.all(
                "list_chat_addresses",
                int,
                platform=platform,
                account=account,
                chat=chat,
                most=_OWNERS_MOST + 1,
            )
        }
    return None if len(owners) > _OWNERS_MOST else frozenset(owners)


def _session(tx: Transaction, keys: AskerKeys, where: SearchFilter) -> OwnedSession | None:
    """Read the one session that is searched, if it is one; it must be the asker's to see."""
    if where.session is None:
        return None
    session = find_owned(tx, where.session)
    if session is None or not keys.admits(session):
        raise NotFound("There is no such session", id=where.session)
    return session
