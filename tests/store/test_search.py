"""Searching on every database: the same hits, whether something is indexed yet or not."""

from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.store.search_setup import ALICE, HERE, OWNER, answer, fill, seqs, talk, texts
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid, NotFound
from threadline.core.message import NewMessage, Role, ToolResult, say
from threadline.core.person import Identity, Viewer
from threadline.core.route import Scopes, Sharing
from threadline.core.search import read_query
from threadline.core.session_patch import SessionPatch
from threadline.core.settings import Settings
from threadline.store import Store
from threadline.store.search import index
from threadline.store.search.check import check_index
from threadline.store.search.matcher import says
from threadline.store.search.search import index_all
from threadline.testing.clock import FakeClock

CORPUS = (
    "The quick brown fox jumps over the lazy dog",
    "the lazy dog sleeps, and the fox is quick; brown is a colour",
    "A FOX! A fox? Nobody expects don't-panic fox-trots",
    "これは日本語のテキストです",
    "日本 の 京都",
    "中文检索 works with Latin words",
    "한국어 검색도 됩니다",
    "party 🎉🎉 and ❤️ for everybody",
    "Die Straße nach İstanbul, ISPARTA und ısparta",
    "cafe\u0301 naïve Ελληνικά Σίσυφος हिन्दी",
    'He said: "NEAR(fox dog)" AND NOT {brown} OR words:fox* ^a - + \\ \' % _ ;--',
    "user@example.org wrote to https://docs.example.org/a/b?c=d",
    "x" * 200 + " longword " + "é" * 100,
    "snake_case_name and CamelCaseName plus v1.2.3",
    "ﬁne ① Ａｂｃ zwi\u00adschen",
    "",
    "… — !?",
)
QUESTIONS = (
    "fox",
    "quick fox",
    '"brown fox"',
    '"lazy dog" -jumps',
    "fox -brown -trots",
    'fox -"quick brown"',
    "ju*",
    "*own*",
    "*umps* dog",
    "fox -*umps*",
    "*ample.org/a*",
    "日本",
    "日",
    "語のテ",
    '"日本 の"',
    "検索",
    "检索 latin",
    "*文检索*",
    "검색",
    "🎉",
    '"🎉 🎉"',
    "❤",
    "strasse istanbul",
    "isparta",
    "ISPARTA",
    "café",
    "ΣΊΣΥΦΟΣ",
    "हिन्दी",
    "NEAR",
    "AND OR NOT",
    "words:fox*",
    '"NEAR(fox dog)" AND',
    "user@example.org",
    "don't",
    "snake_case_name",
    "*melcas*",
    "1.2.3",
    "x" * 70,
    "é" * 64,
    "*xxxxxxxx*",
    "fine abc zwischen 1",
    "nothing-of-this-kind",
    "@s1",
    "~fox",
)


@pytest.mark.parametrize("indexed", [0, 5, 1000])
async def test_the_index_finds_what_reading_everything_finds(store: Store, indexed: int) -> None:
    """Words of all scripts, phrases, exclusions, parts and hostile syntax: the same set of hits."""
    id = await fill(store, CORPUS)
    await store.database.write(index.index_some, most=indexed or 1)
    lines = await store.transcripts.read(id, most=1000)

    for question in QUESTIONS:
        found = await store.search(question, asker=OWNER)
        wanted = read_query(question)
        naive = [
            line.seq for line in lines if line.role is not Role.SYSTEM and says(line.text, wanted)
        ]
        assert seqs(found) == naive, question
    assert not await store.database.read(check_index)


@pytest.mark.parametrize(
    ("question", "count"),
    [("fox", 4), ('"brown fox"', 1), ("日", 2), ("*own*", 3), ("🎉", 1), ("isparta", 1)],
)
async def test_some_questions_have_known_answers(store: Store, question: str, count: int) -> None:
    """The matcher that both sides share is itself held against numbers counted by hand."""
    await fill(store, CORPUS)
    await index_all(store.database)

    found = await store.search(question, asker=OWNER)

    assert len(found.hits) == count


async def test_a_hit_says_where_it_is(store: Store) -> None:
    """Session, place, role, title, and a snippet that shows the words."""
    id = await talk(store, "Where is my umbrella?", "In the hall, by the umbrella stand.")
    await store.sessions.update(id, SessionPatch(title="Lost things"))
    await index_all(store.database)

    found = await store.search("umbrella stand", asker=OWNER)

    (hit,) = found.hits
    line = (await store.transcripts.read(id))[-1]
    assert (hit.session_id, hit.seq, hit.key, hit.role) == (id, line.seq, line.key, Role.ASSISTANT)
    assert (hit.title, hit.rank, hit.at) == ("Lost things", 1, line.at)
    assert hit.snippet.text == "In the hall, by the umbrella stand."
    assert [hit.snippet.text[a:b] for a, b in hit.snippet.ranges] == ["umbrella", "stand"]


async def test_titles_are_found_and_change(store: Store) -> None:
    """A title is found by words and by parts, indexed or not, and an old one is not."""
    id = await talk(store, "hello")
    for is_indexed in (False, True):
        await store.sessions.update(id, SessionPatch(title=f"Holiday in Norway {is_indexed}"))
        if is_indexed:
            await index_all(store.database)
        for question in ("norway", "*orwa*", "hol*", f"holiday {is_indexed}"):
            found = await store.search(question, asker=OWNER)
            assert [hit.session_id for hit in found.sessions] == [id], question
    await store.sessions.update(id, SessionPatch(title="Work"))

    assert not (await store.search("norway", asker=OWNER)).sessions
    await index_all(store.database)
    assert not (await store.search("norway", asker=OWNER)).sessions
    assert (await store.search("work", asker=OWNER)).sessions[0].title.text == "Work"
    assert not await store.database.read(check_index)


async def test_undone_words_are_never_found_and_compacted_ones_are(store: Store) -> None:
    """Undo and retry hide from the search, redo shows again, and compaction hides nothing."""
    id = await talk(store, "keep the lighthouse", "noted")
    await talk(store, "forget the lighthouse", "lighthouse forgotten")
    await index_all(store.database)

    await store.transcripts.undo(id)
    assert await texts(store, "lighthouse") == ["keep the lighthouse"]
    await store.transcripts.redo(id)
    assert len(await texts(store, "lighthouse")) == 3
    await store.transcripts.retry(id)
    assert await texts(store, "forgotten") == []
    await answer(store, "again")
    await store.transcripts.compact(id, "They spoke.", keep=1)

    assert "keep the lighthouse" in await texts(store, "lighthouse")


async def test_a_branch_is_searched_once(store: Store) -> None:
    """Shared lines are found in the session they were said in, own lines in the branch."""
    id = await talk(store, "the giraffe is tall", "yes")
    branch = await store.transcripts.branch(id)
    await store.transcripts.record(branch.id, [say(Role.USER, "a giraffe in the branch")])

    for _ in range(2):
        found = await store.search("giraffe", asker=OWNER)
        assert {hit.session_id for hit in found.hits} == {id, branch.id}
        assert len(found.hits) == 2
        await index_all(store.database)


async def test_everybody_finds_only_what_is_theirs(open_store: OpenStore) -> None:
    """Alice, Bob, their group, another group, a stranger: each finds what they may see."""
    store = await open_store(rules=Settings(scopes=Scopes(groups=Sharing.SHARED)))
    group = Address(platform="telegram", kind=Kind.GROUP, chat="family")
    other = Address(platform="telegram", kind=Kind.GROUP, chat="work")
    bob, bob_home = Sender(id="bob"), Address(platform="telegram", kind=Kind.DM, chat="bob")
    await talk(store, "treasure of alice")
    await talk(store, "treasure of bob", address=bob_home, sender=bob)
    await talk(store, "treasure of the family", address=group, sender=bob)
    await talk(store, "treasure of work", address=other, sender=bob)
    await talk(store, "treasure of another profile", profile="other")
    stranger = Sender(id="eve")

    sees = {
        "alice at home": (Viewer(address=HERE, sender=ALICE), ["alice"]),
        "alice in the group": (Viewer(address=group, sender=ALICE), ["alice", "the family"]),
        "bob at home": (Viewer(address=bob_home, sender=bob), ["bob"]),
        "bob at work": (Viewer(address=other, sender=bob), ["bob", "work"]),
        "a stranger in the group": (Viewer(address=group, sender=stranger), ["the family"]),
        "a stranger at home": (Viewer(address=HERE, sender=stranger), []),
        "nobody": (Viewer(address=HERE), []),
        "the owner": (OWNER, ["alice", "bob", "the family", "work"]),
        "the owner of another": (Viewer.owner("other"), ["another profile"]),
    }
    for _ in range(2):
        for who, (asker, what) in sees.items():
            for question in ("treasure", "*reasur*", "treasure *reasur*"):
                found = await texts(store, question, asker)
                assert found == sorted(f"treasure of {one}" for one in what), (who, question)
                page = await store.search(question, asker=asker)
                assert len(page.sessions) == len(what), who
        await index_all(store.database)


async def test_a_search_can_be_narrowed_down(open_store: OpenStore) -> None:
    """By role, platform, kind, sender, session, project, archive and time."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    slack = Address(platform="slack", kind=Kind.CHANNEL, chat="c")
    id = await talk(store, "apple one", "apple answer")
    await store.transcripts.record(
        id, [NewMessage(role=Role.TOOL, parts=(ToolResult(call_id="1", text="apple tool"),))]
    )
    clock.advance(timedelta(hours=1))
    later = store.now()
    other = await talk(store, "apple two", address=slack, sender=Sender(id="bob"))
    await store.archive([other])
    alice = Identity(platform="telegram", id="alice")
    bob = Identity(platform="slack", id="bob")

    for _ in range(2):
        assert await texts(store, "apple", roles=(Role.USER,)) == ["apple one", "apple two"]
        assert await texts(store, "apple", roles=(Role.TOOL,)) == ["apple tool"]
        assert await texts(store, "apple", platform="slack") == ["apple two"]
        assert await texts(store, "apple", kind=Kind.CHANNEL) == ["apple two"]
        assert await texts(store, "apple", sender=bob) == ["apple two"]
        assert await texts(store, "apple", sender=Identity(platform="slack", id="eve")) == []
        assert len(await texts(store, "apple", sender=alice)) == 3
        assert await texts(store, "apple", session=other) == ["apple two"]
        assert await texts(store, "apple", since=later) == ["apple two"]
        assert len(await texts(store, "apple", until=later)) == 3
        assert await texts(store, "apple", is_archived=True) == ["apple two"]
        assert len(await texts(store, "apple", is_archived=False)) == 3
        await index_all(store.database)
    with pytest.raises(NotFound):
        await texts(store, "apple", asker=Viewer(address=HERE, sender=ALICE), session=other)


async def test_pages_follow_each_other(store: Store) -> None:
    """Page after page every hit comes once, also where the index only knows candidates."""
    await fill(store, [f"banana number {n} {'xabcdx' if n % 3 else 'abc bcd'}" for n in range(40)])
    await index_all(store.database)

    for question, count in (("banana", 40), ("*abcd*", 26), ('"banana number"', 40)):
        seen: list[int] = []
        skip: int | None = 0
        while skip is not None:
            page = await store.search(question, asker=OWNER, skip=skip, most=7)
            seen += [hit.seq for hit in page.hits]
            assert [hit.rank for hit in page.hits] == list(
                range(skip + 1, skip + 1 + len(page.hits))
            )
            skip = page.next
        assert len(seen) == len(set(seen)) == count


@pytest.mark.parametrize(
    "values",
    [
        {"skip": -1},
        {"skip": 10_001},
        {"most": 0},
        {"most": 1001},
        {"most": "many"},
        {"asker": None},
        {"where": {"roles": ("user",)}},
        {"is_typing": 1},
    ],
)
async def test_a_search_refuses_nonsense(store: Store, values: dict[str, object]) -> None:
    """What is no page, no asker or no filter gets a clear error."""
    with pytest.raises(Invalid):
        await store.search("fox", **{"asker": OWNER, **values})  # type: ignore[arg-type]


@on(FAST, POSTGRES)
async def test_what_is_typed_is_found_before_it_is_complete(store: Store) -> None:
    """While somebody types, the last word may be unfinished."""
    await fill(store, ["a strawberry"])
    await index_all(store.database)

    found = await store.search("a straw", asker=OWNER, is_typing=True)

    assert seqs(found) == seqs(await store.search("strawberry", asker=OWNER))
    assert not (await store.search("a straw", asker=OWNER)).hits


async def test_what_was_undone_after_a_branch_is_found_in_the_branch(store: Store) -> None:
    """The base shows it no more, but the branch does, until it is undone there too."""
    id = await talk(store, "the walrus sings", "it does")
    branch = await store.transcripts.branch(id, title="Walrus")
    await store.transcripts.undo(id)

    for question in ("walrus sings", "*alru*"):
        for _ in range(2):
            (hit,) = (await store.search(question, asker=OWNER)).hits
            assert (hit.session_id, hit.title) == (branch.id, "Walrus")
            await index_all(store.database)
    await store.transcripts.undo(branch.id)

    assert not (await store.search("walrus", asker=OWNER)).hits
