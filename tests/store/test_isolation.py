"""Isolation: for every read, command and export a table of who sees what, tried exhaustively.

The askers, the sessions and both tables are in `stage`. A new read is one more function in READS.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TypeAlias

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.store.isolation_setup import (
    ASKERS,
    EVERYBODYS,
    LINKED,
    PARTED,
    SCENES,
    Stage,
    build,
    part,
)
from threadline.core.address import Kind
from threadline.core.command import parse_command
from threadline.core.errors import NotFound, Refused
from threadline.core.export_format.file_records import ExportScope, Selection
from threadline.core.inbound import Inbound
from threadline.core.person import Viewer
from threadline.core.route import Scopes, Sharing
from threadline.core.search import SearchFilter
from threadline.core.settings import Settings
from threadline.store import queries
from threadline.store.commands import CommandReply, carry_out
from threadline.store.inbound.deduplication import once
from threadline.store.sessions.session_list import list_own_sessions

Read: TypeAlias = Callable[[Stage, Viewer], Awaitable[set[str]]]

RULES = Settings(scopes_by_platform={"slack": Scopes(groups=Sharing.SHARED)})


async def command(stage: Stage, asker: Viewer, text: str) -> CommandReply:
    """Give a command as somebody, somewhere."""
    assert asker.address is not None
    store, call = stage.store, parse_command(text)
    assert call is not None
    said = Inbound.text(
        text, address=asker.address, sender=asker.sender, at=store.now(), profile=asker.profile
    )
    reply = await store.database.write(once, said, carry_out, said, call)
    assert reply is not None
    return reply


def words(stage: Stage, text: str) -> set[str]:
    """Find the sessions of which a text says a word."""
    return {name for name in stage.ids if name in text}


async def ask_directly(stage: Stage, asker: Viewer) -> set[str]:
    """Ask the one function that decides."""
    return {name for name, id in stage.ids.items() if await stage.store.people.may_see(asker, id)}


async def read_rows(stage: Stage, asker: Viewer) -> set[str]:
    """Ask for the rows of all sessions by their ids."""
    rows = await stage.store.session_rows(list(stage.ids.values()), asker=asker)
    return {stage.names[row.session.id] for row in rows}


async def list_own(stage: Stage, asker: Viewer) -> set[str]:
    """List what may be resumed; nothing else is named as its parent, root or base."""
    assert asker.address is not None
    rows = await stage.store.database.read(
        list_own_sessions, asker.address, asker.sender, profile=asker.profile, most=queries.PAGE
    )
    named = {
        id
        for row in rows
        for id in (
            row.session.id,
            row.session.parent_id,
            row.session.root_id,
            row.session.base_id,
        )
        if id is not None
    }
    assert named == {row.session.id for row in rows}
    return {stage.names[id] for id in named}


async def switch(stage: Stage, asker: Viewer) -> set[str]:
    """Go on with each session; where several speak, one's own is refused, and so it is seen."""
    assert asker.address is not None
    seen = set()
    for name, id in stage.ids.items():
        with suppress(NotFound):
            with suppress(Refused):
                await stage.store.sessions.switch(
                    asker.address, asker.sender, id, profile=asker.profile
                )
            seen.add(name)
    return seen


async def list_by_command(stage: Stage, asker: Viewer) -> set[str]:
    """Give `/sessions`."""
    return words(stage, (await command(stage, asker, "/sessions")).text)


async def search_by_command(stage: Stage, asker: Viewer) -> set[str]:
    """Give `/sessions` with a part of each title."""
    return {
        name
        for name in stage.ids
        if name in words(stage, (await command(stage, asker, f"/sessions {name[:-1]}")).text)
    }


async def choose_by_command(stage: Stage, asker: Viewer) -> set[str]:
    """Give `/resume` without a word."""
    return words(stage, (await command(stage, asker, "/resume")).text)


async def resume_by(stage: Stage, asker: Viewer, wanted: Mapping[str, str]) -> set[str]:
    """Give `/resume` with each of these arguments."""
    seen = set()
    for name, argument in wanted.items():
        with suppress(NotFound):
            with suppress(Refused):
                await command(stage, asker, f"/resume {argument}")
            seen.add(name)
    return seen


async def resume_by_id(stage: Stage, asker: Viewer) -> set[str]:
    """Give `/resume` with each id."""
    return await resume_by(stage, asker, stage.ids)


async def resume_by_title(stage: Stage, asker: Viewer) -> set[str]:
    """Give `/resume` with each title."""
    return await resume_by(stage, asker, {name: name for name in stage.ids})


async def search(stage: Stage, asker: Viewer) -> set[str]:
    """Search for each word; whatever is found, in whichever session, has been seen."""
    seen = set()
    for name in stage.ids:
        found = await stage.store.search(name, asker=asker)
        ids = {hit.session_id for hit in found.hits} | {hit.session_id for hit in found.sessions}
        seen |= {stage.names[id] for id in ids}
    return seen


async def search_inside(stage: Stage, asker: Viewer) -> set[str]:
    """Search within each session by its id."""
    seen = set()
    for name, id in stage.ids.items():
        with suppress(NotFound):
            await stage.store.search("it", asker=asker, where=SearchFilter(session=id))
            seen.add(name)
    return seen


async def export_all(stage: Stage, asker: Viewer) -> set[str]:
    """Export everything that the asker may see."""
    wanted = Selection(extent=ExportScope.ALL)
    blocks = [block async for block in stage.store.transfer.export_history(wanted, asker=asker)]
    text = b"".join(blocks).decode()
    return {name for name, id in stage.ids.items() if f'"{id}"' in text}


async def export_each(stage: Stage, asker: Viewer) -> set[str]:
    """Export each session by its id."""
    seen = set()
    for name, id in stage.ids.items():
        with suppress(NotFound):
            async for _ in stage.store.transfer.export_session(id, asker=asker):
                pass
            seen.add(name)
    return seen


READS: tuple[Read, ...] = (
    ask_directly,
    read_rows,
    list_own,
    switch,
    list_by_command,
    search_by_command,
    choose_by_command,
    resume_by_id,
    resume_by_title,
    search,
    search_inside,
    export_all,
    export_each,
)
BY_COMMAND = (
    list_by_command,
    search_by_command,
    choose_by_command,
    resume_by_id,
    resume_by_title,
)
FOR_AN_OWNER = (ask_directly, read_rows, search, search_inside, export_all, export_each)
"""Reads that take an asker; the others are given from some chat."""


@on(FAST, POSTGRES)
@pytest.mark.parametrize("read", READS, ids=lambda read: read.__name__)
async def test_everybody_sees_what_is_theirs(read: Read, open_store: OpenStore) -> None:
    """Same sender, same person, or everybody's in the same chat: that is seen, nothing else."""
    stage = await build(await open_store(rules=RULES))

    assert await look(stage, read) == expected(read, LINKED)


@on(FAST, POSTGRES)
@pytest.mark.parametrize("read", READS, ids=lambda read: read.__name__)
async def test_parting_leaks_nothing_to_any_read(read: Read, open_store: OpenStore) -> None:
    """Each resumed the other's sessions while they were linked; apart, each sees their own."""
    stage = await build(await open_store(rules=RULES))
    for asker in ASKERS.values():
        if asker.address is not None:
            await switch(stage, asker)

    await part(stage)

    assert await look(stage, read) == expected(read, PARTED)


async def look(stage: Stage, read: Read) -> dict[str, set[str]]:
    """Let every asker read."""
    return {name: await read(stage, asker) for name, asker in ASKERS.items() if is_for(read, asker)}


def expected(read: Read, table: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Answer what the table says of those who can ask so."""
    return {
        name: table[name] & said_in_chat(asker) if read in BY_COMMAND else table[name]
        for name, asker in ASKERS.items()
        if is_for(read, asker)
    }


def said_in_chat(asker: Viewer) -> set[str]:
    """Answer what a command may speak of: where others listen, only what belongs to that chat."""
    here = asker.address
    if here is None or here.kind is Kind.DM:
        return set(EVERYBODYS) | {"adawork"}
    return {
        name
        for name, (there, _, _) in SCENES.items()
        if there.kind is not Kind.DM
        and (there.platform, there.account, there.chat) == (here.platform, here.account, here.chat)
    }


def is_for(read: Read, asker: Viewer) -> bool:
    """Tell whether somebody can read in this way."""
    return asker.address is not None or read in FOR_AN_OWNER
