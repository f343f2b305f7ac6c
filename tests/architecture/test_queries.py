"""SQL lives in its files: each query has a name and a sentence, and somebody uses it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests.architecture.source import SQL, Module, migrations, modules, queries, sample

READS = {"one", "all", "exists"}
WRITES = {"run", "run_many"}
WRITERS = {"store", "database", "testing"}
"""The contract of a database writes without the session layer, in order to try the port."""
BOOLEAN = re.compile(r"\bbool(ean)?\b|^\s*(is|has|was)_\w+\s+[A-Z]", re.IGNORECASE | re.MULTILINE)


def calls(module: Module, methods: set[str]) -> Iterator[ast.Call]:
    """Walk over the calls of these methods on a transaction, which is always named `tx`."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if method in methods:
                if ast.unparse(receiver).endswith("tx"):
                    yield node
            case ast.Call(func=ast.Name(id="expect")) if methods & READS:
                yield node
            case _:
                pass


def names(call: ast.Call) -> list[str]:
    """Read the names that a call may ask for: a literal, or a choice between two."""
    # expect(tx, "name") stands for tx.one("name").
    arguments = call.args[1:] if isinstance(call.func, ast.Name) else call.args
    first = arguments[0] if arguments else None
    choices = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
    return [
        choice.value
        for choice in choices
        if isinstance(choice, ast.Constant) and isinstance(choice.value, str)
    ]


def test_every_query_has_a_name_and_a_sentence() -> None:
    """`-- name: claim_turn`, then `-- A sentence.`, then SQL."""
    bad = [
        f"{query.file}: {query.name}"
        for query in queries()
        if not re.fullmatch(r"[a-z][a-z0-9_]*", query.name)
        or not re.fullmatch(r"-- [A-Z`].*", query.comment)
        or not re.search(r"[.?!]$", _sentence(query.comment, query.statement))
        or not _code(query.statement)
    ]

    assert not bad, "queries without name, sentence or statement:\n" + "\n".join(bad)


def test_every_query_has_its_own_name() -> None:
    """No two queries share a name: the second would silently replace the first."""
    count = Counter(query.name for query in queries())

    assert not [name for name, times in count.items() if times > 1]


def test_no_query_has_two_names() -> None:
    """What is asked of the database in one way has one name, whatever its values are called."""
    same: dict[str, list[str]] = {}
    for query in queries():
        same.setdefault(_normal(query.statement), []).append(query.name)
    twice = [" and ".join(names) for names in same.values() if len(names) > 1]

    assert not twice, "the same query under two names:\n" + "\n".join(twice)


def test_two_texts_of_one_query_are_the_same() -> None:
    """Neither the lines, nor a comment, nor the name of a value make another query."""
    one = "-- Of it.\nDELETE FROM marks\n  WHERE key = :key"

    assert _normal(one) == _normal("DELETE FROM marks WHERE key = :mark_key")
    assert _normal(one) != _normal("DELETE FROM marks WHERE reader = :key")
    assert _normal("WHERE a = :a AND b = :a") != _normal("WHERE a = :a AND b = :b")


def test_every_query_is_used() -> None:
    """A query that nobody asks for by name is deleted."""
    used = {
        name for m in modules("src") for call in calls(m, READS | WRITES) for name in names(call)
    }
    unused = sorted({query.name for query in queries()} - used)

    assert not unused, f"queries that nobody uses: {', '.join(unused)}"


def test_every_fragment_is_included_more_than_once() -> None:
    """What stands in one query only belongs there, and what is included exists."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SQL.rglob("*.sql"))
    fragments = re.findall(r"^-- fragment: (\w+)\n-- [A-Z].*\.$", text, re.MULTILINE)
    included = Counter(re.findall(r"-- include: (\w+)", text))

    assert set(included) == set(fragments)
    assert len(fragments) == text.count("-- fragment:")
    assert min(included.values()) > 1


def test_every_query_that_is_used_exists() -> None:
    """A name in the code is the name of a query, so that no typo waits for its first caller."""
    known = {query.name for query in queries()}
    unknown = [
        f"{module.at(call)}: {name}"
        for module in modules("src", "tests")
        if module.path.name != "test_queries.py"
        for call in calls(module, READS | WRITES)
        for name in names(call)
        if name not in known
    ]

    assert not unknown, "queries that do not exist:\n" + "\n".join(unknown)


def test_only_the_session_layer_writes() -> None:
    """Screens, commands, agents and platforms read, and call the verbs of `sessions`."""
    found = [
        module.at(call)
        for module in modules("src")
        if module.room not in WRITERS
        for call in calls(module, WRITES)
    ]

    assert not found, "writes outside of sessions:\n" + "\n".join(found)


def test_no_boolean_is_stored() -> None:
    """A state, a cause or a moment tells more than yes or no."""
    found = [
        f"{file}: {match.group().strip()}"
        for file, text in migrations().items()
        for match in BOOLEAN.finditer(text)
    ]

    assert not found, "booleans in the schema:\n" + "\n".join(found)


def test_booleans_are_found() -> None:
    """A boolean is found by its type and by its name, and not inside another word."""
    assert BOOLEAN.search("archived BOOLEAN NOT NULL")
    assert BOOLEAN.search("    is_archived INTEGER NOT NULL")
    assert not BOOLEAN.search("    archived_at INTEGER, -- CHECK (deleted_at IS NULL)")


def test_names_are_read_from_calls() -> None:
    """A literal and both sides of a choice are read; other people's `run` is none of ours."""
    code = "tx.one('a', id=1); self._tx.all('b' if x else 'c'); subprocess.run('d'); tx.run(e)"

    found = [name for call in calls(sample(code), READS | WRITES) for name in names(call)]
    sure = [name for call in calls(sample("expect(tx, 'f')"), READS) for name in names(call)]

    assert sorted(found) == ["a", "b", "c"]
    assert sure == ["f"]


def _sentence(comment: str, statement: str) -> str:
    lines = [comment]
    for line in statement.splitlines():
        if not line.startswith("-- ") or line.startswith("-- include:"):
            break
        lines.append(line)
    return " ".join(lines).rstrip()


def _normal(statement: str) -> str:
    """Number the values of a statement, and leave out how it is laid out."""
    numbers: dict[str, str] = {}
    return re.sub(
        r"(?<!:):[a-z]\w*",
        lambda value: numbers.setdefault(value.group(), f":{len(numbers)}"),
        " ".join(_code(statement).split()),
    )


def _code(statement: str) -> str:
    return re.sub(r"^\s*--.*$", "", statement, flags=re.MULTILINE).strip()
