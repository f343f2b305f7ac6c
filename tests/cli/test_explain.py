"""`threadline explain` tells where a message goes, one or ten thousand."""

import json
import time
from collections import defaultdict
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.core.test_vectors import read
from threadline.testing.deadline import HANG_SECONDS


def explain(*lines: str) -> list[dict[str, object]]:
    result = run("explain", lines="\n".join(lines))
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_vectors_are_divided_as_they_should_be() -> None:
    """Over all rows, equal routes mean equal conversations, and the other way round."""
    rows = json.loads(read("same_conversation.json"))["rows"]
    answers = explain(*(json.dumps(row) for row in rows))
    routes, keys = defaultdict(set), defaultdict(set)
    for row, answer in zip(rows, answers, strict=True):
        routes[row["peer_key"]].add(answer["route"])
        keys[answer["route"]].add(row["peer_key"])

    assert len(rows) >= 1180
    assert all(len(found) == 1 for found in [*routes.values(), *keys.values()])
    assert [a["multi_user"] for a in answers] == [row["multi_user"] for row in rows]


@pytest.mark.parametrize("with_store", [True, False])
def test_many_lines_are_quick(with_store: bool) -> None:
    """Ten thousand lines take seconds, also when each of them asks the store."""
    if with_store:
        run("chat", lines="hello\n")
    line = '{"platform": "local", "kind": "dm", "chat": "terminal", "sender": "owner"}'
    began = time.process_time()
    answers = explain(*[line] * 10_000)

    assert len(answers) == 10_000
    assert (answers[-1]["session"] is not None) is with_store
    assert time.process_time() - began < HANG_SECONDS


def test_a_bad_line_costs_one_line() -> None:
    """It is answered by an error in its place, and the exit code tells."""
    good = '{"platform": "telegram", "kind": "group", "chat": "1", "sender": "u", "extra": 1}'
    bad = [
        "{",
        "[]",
        '{"kind": "dm"}',
        '{"platform": "x", "kind": "cave"}',
        '{"platform": "x", "kind": "dm", "chat": 7}',
        '{"platform": "\\ud800", "kind": "dm"}',
        '{"platform": "a\\u0000b", "kind": "dm"}',
        '{"platform": "x", "kind": "group", "groups": "all"}',
        '{"platform": "x", "kind": "dm", "profile": "../../etc"}',
        '{"platform": "x", "kind": "dm", "profile": 5}',
        "[" * 100_000,
    ]
    result = run("explain", lines="\n".join([good, *bad, "", good]))
    answers = [json.loads(line) for line in result.stdout.splitlines()]

    assert result.exit_code == 1
    assert ["error" in answer for answer in answers] == [False, *[True] * len(bad), False]
    assert answers[0]["route"] == "agent:main:telegram:group:1:member=u"


def test_bytes_that_are_no_text_cost_one_line() -> None:
    """Also a byte order mark of another encoding."""
    result = run("explain", lines=b'\xff\xfe\n{"platform": "x", "kind": "dm"}')

    assert [("error" in json.loads(line)) for line in result.stdout.splitlines()] == [True, False]


def test_flags_are_explained_to_a_person() -> None:
    """Route, people, session, resets and verdict, also without any database."""
    result = run(
        *[
            "explain",
            "--platform",
            "slack",
            "--kind",
            "channel",
            "--chat",
            "C1",
            "--thread",
            "7",
            "--sender",
            "u1",
        ]
    )

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "route    agent:main:slack:channel:C1:thread=7",
        "people   several share it",
        "session  none (there is no database yet)",
        "resets   never",
        "verdict  begins a new session: nobody has spoken here before",
    ]


def test_all_flags_count() -> None:
    """Account, alternative id, sharing and profile have their place in the route."""
    flags = "--platform x --kind group --chat c --sender u --sender-alt a --account b"
    result = run(*f"explain {flags} --groups member --profile coder --json".split())

    assert json.loads(result.stdout)["route"] == "agent:coder:x@b:group:c:member=a"
    assert run(*f"explain {flags} --groups x".split()).exit_code == 1


def test_flags_fill_in_what_lines_leave_out() -> None:
    """With lines on standard input the flags are defaults."""
    result = run(
        *["explain", "--kind", "group", "--groups", "shared", "--profile", "coder"],
        lines='{"platform": "x", "chat": "1", "sender": "u"}',
    )

    assert json.loads(result.stdout)["route"] == "agent:coder:x:group:1"


def test_the_bound_session_and_the_verdict_are_told(home: Path) -> None:
    """A message that would go on names its session; after /new it says why it would not."""
    run("chat", lines="hello\n")
    flags = ["explain", "--platform", "local", "--chat", "terminal", "--sender", "owner", "--json"]
    goes_on = json.loads(run(*flags).stdout)
    run("chat", lines="/new\n")
    begins = json.loads(run(*flags).stdout)

    assert (goes_on["cause"], goes_on["verdict"]) == (None, None)
    assert (begins["session"], begins["cause"]) == (goes_on["session"], "new")
    assert goes_on["policy"]["mode"] == "none"


def test_settings_decide(home: Path) -> None:
    """Sharing and resets of the configuration are what is explained."""
    (home / "threadline.toml").write_text(
        '[sharing.platforms.slack]\ngroups = "shared"\n[reset.kinds.group]\nmode = "idle"\n'
    )
    (answer,) = explain('{"platform": "slack", "kind": "group", "chat": "1", "sender": "u"}')

    assert (answer["multi_user"], answer["route"]) == (True, "agent:main:slack:group:1")
    assert answer["policy"] == {
        "mode": "idle",
        "idle_minutes": 1440,
        "at_hour": 4,
        "timezone": "UTC",
        "notify": True,
        "carry": "nothing",
    }


def test_a_line_without_a_kind_is_about_a_dm() -> None:
    """What the flags take for granted, a line may leave out, too."""
    (answer,) = explain('{"platform": "telegram", "chat": "5"}')

    assert answer["route"] == "agent:main:telegram:dm:5"


def test_nothing_to_explain_is_said() -> None:
    """An empty input is a mistake, and no silent success."""
    result = run("explain", lines="\n")

    assert result.exit_code == 1
    assert "No message came in" in result.stderr
