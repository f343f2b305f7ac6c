"""Answers that are kept for a repeated request hold nothing of what was forgotten since."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from tests.database.test_secure_delete import rows_with, traces
from tests.databases import FAST, POSTGRES, DatabaseFactory, on
from tests.store.people_setup import answers
from tests.web.resources.callers import Callers, calling
from threadline.core.session import SessionId
from threadline.core.summarizer import SUMMARY_TASK
from threadline.gateway.gateway import Gateway
from threadline.store import Store
from threadline.store.accounts.idempotency import find_outcome
from threadline.store.deletion.forget import forget_sessions
from threadline.testing.scripted_agent import ScriptedAgent
from threadline.testing.scripted_summarizer import ScriptedSummarizer

WORDS = ("xylocarp", "quixotrope", "zyzzogeton")


def held(factory: DatabaseFactory, folder: Path, words: Iterable[str]) -> set[str]:
    """Answer which words the database holds, in its rows or in the bytes of its files."""
    on_server = factory.where.startswith("postgres")
    return rows_with(factory, words) if on_server else traces(folder, words)


def served(store: Store) -> tuple[Gateway, ScriptedSummarizer]:
    """Have somebody who writes summaries that repeat what was said."""
    scribe = ScriptedSummarizer()
    scribe.summary = "They spoke of a quixotrope."
    # It is not begun, so that nothing happens but what the test does.
    return Gateway(store, ScriptedAgent(), [], scribe=scribe), scribe


async def long_talk(callers: Callers) -> SessionId:
    """Let the member say enough that some of it can be summed up, and some taken back."""
    id = await callers.talk("member", "xylocarp")
    for text in ("two", "three", "four", "zyzzogeton"):
        await callers.member.post(f"/api/sessions/{id}/messages", json={"text": text})
        await answers(callers.store, "yes")
    return id


async def act(callers: Callers, id: SessionId) -> list[str]:
    """Let the owner do whatever answers with words, each with a key; answer what they are told."""
    told = []
    for path, wish in (
        (f"sessions/{id}/compress", {}),
        (f"sessions/{id}/undo", {"turns": 1}),
        (f"sessions/{id}/messages/1/branches", {"title": "xylocarp"}),
        (f"sessions/{id}/commands", {"line": "/sessions"}),
        ("jobs", {"prompt": "What is new?", "schedule": "every day 9:00"}),
    ):
        head = {"Idempotency-Key": path}
        answer = await callers.owner.post(f"/api/{path}", json=wish, headers=head)
        assert answer.is_success, answer.text
        told.append(answer.text)
    return told


@on(FAST, POSTGRES)
async def test_no_word_of_a_session_is_left_in_an_answer(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """Once it stayed for a day what an undo had given back, and what a compaction had summed up."""
    store = Store(await database_factory())
    gateway, _ = served(store)
    async with calling(store, gateway=gateway) as callers:
        id = await long_talk(callers)
        told = await act(callers, id)
        branch = (await store.transcripts.lineage(id)).children[0].id
        kept = {word for word in WORDS for text in told if word in text}
        before = held(database_factory, tmp_path, WORDS)
        await forget_sessions(store.database, [id, branch])
        job = {"prompt": "What is new?", "schedule": "every day 9:00"}
        again = await callers.owner.post("/api/jobs", json=job, headers={"Idempotency-Key": "jobs"})
        jobs = (await callers.owner.get("/api/jobs")).json()["items"]

    assert kept == before == set(WORDS)
    assert held(database_factory, tmp_path, WORDS) == set()
    assert (again.status_code, len(jobs)) == (409, 1)
    assert "idempotency key was" in again.text


@on(FAST, POSTGRES)
async def test_no_word_of_a_person_is_left_in_an_answer(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """Neither in what the owner was told about them; what tells of somebody else alone stays."""
    store = Store(await database_factory())
    gateway, _ = served(store)
    async with calling(store, gateway=gateway) as callers:
        id = await long_talk(callers)
        await act(callers, id)
        others = f"/api/sessions/{await callers.talk('other')}/undo"
        head = {"Idempotency-Key": "other"}
        first = await callers.owner.post(others, json={}, headers=head)
        sender = {"sender": f"local:{callers.accounts['member'].sender.id}"}
        gone = await callers.owner.post("/api/people/forgettings", json=sender)
        second = await callers.owner.post(others, json={}, headers=head)

    assert (gone.status_code, first.status_code) == (200, 200)
    assert held(database_factory, tmp_path, WORDS) == set()
    assert second.headers["idempotent-replay"] == "true"
    assert second.text == first.text


@on(FAST, POSTGRES)
async def test_what_is_under_way_while_it_is_forgotten_is_not_kept(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """Whoever asked is answered; nobody is later, and it is not begun again at once."""
    store = Store(await database_factory())
    gateway, scribe = served(store)
    async with calling(store, gateway=gateway) as callers:
        id = await long_talk(callers)
        scribe.free.clear()
        line = {"line": "/compress"}
        path, head = f"/api/sessions/{id}/commands", {"Idempotency-Key": "mine"}
        asked = asyncio.create_task(callers.owner.post(path, json=line, headers=head))
        while not scribe.wrote(SUMMARY_TASK):
            await asyncio.sleep(0.001)
        await store.sessions.delete(id)
        scribe.free.set()
        told = await asked
        kept = await store.database.read(find_outcome, callers.accounts["owner"].key, "mine")

    assert told.status_code == 200
    assert kept is not None
    assert (kept.is_under_way, kept.request_hash, kept.answer) == (True, "", "")
    assert held(database_factory, tmp_path, WORDS) == set()
