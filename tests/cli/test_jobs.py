"""`threadline jobs` and `threadline send`: the timetable and the ledger, from a terminal."""

import json
from pathlib import Path

import pytest

from tests.cli.program import run
from threadline.cli.shell_completion import complete_job, complete_target


def answered(*arguments: str, lines: str = "") -> str:
    """Run a command that works, and answer what it says."""
    done = run(*arguments, lines=lines)
    assert done.exit_code == 0, done.output
    return done.output


def refused(*arguments: str) -> str:
    """Run a command that does not work, and answer what it says."""
    done = run(*arguments)
    assert done.exit_code == 1, done.output
    return done.output


def test_a_job_lives_from_making_to_deleting() -> None:
    """What is made is listed, shown, put to rest, started, changed and deleted."""
    told = answered("jobs", "add", "What is new?", "--every", "day 9:00", "--name", "News")
    assert told.startswith("Job 1 is there. Next: ")
    assert "News" in answered("jobs", "list")
    page = answered("jobs", "show", "1")
    assert "every day 9:00 (UTC)" in page
    assert page.endswith("What is new?\n")

    assert answered("jobs", "pause", "1") == "Job 1 rests.\n"
    assert "rests" in answered("jobs", "list")
    assert answered("jobs", "resume", "1").startswith("Job 1 goes on.")
    told = answered("jobs", "run", "1")
    assert told == "Job 1 waits: no gateway serves. `threadline serve` starts one.\n"
    assert "waiting" in answered("jobs", "runs", "1")
    assert "runs just now" in refused("jobs", "run", "1")
    told = answered("jobs", "change", "1", "--cron", "0 8 * * *", "--name", "Early")
    assert told.startswith("Job 1 is Early.")
    assert answered("jobs", "delete", "1") == "Job 1 is gone. Its sessions stay.\n"
    assert answered("jobs", "list").startswith("There are no jobs yet.")


def test_jobs_are_read_by_programs() -> None:
    """Every answer is there as JSON."""
    made = json.loads(answered("jobs", "add", "-", "--every", "15m", "--json", lines="Hello\n"))
    assert (made["id"], made["prompt"], made["target"]) == (1, "Hello\n", "origin")

    (listed,) = json.loads(answered("jobs", "list", "--json"))
    assert listed == made == json.loads(answered("jobs", "show", "1", "--json"))
    begun = json.loads(answered("jobs", "run", "1", "--json"))
    (one,) = json.loads(answered("jobs", "runs", "1", "--json"))
    assert (begun["state"], one["state"], one["turn_id"]) == ("running", "running", 1)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "needs a time"),
        (("--every", "1h", "--cron", "* * * * *"), "one schedule"),
        (("--every", "1s"), "not a unit"),
        (("--cron", "61 * * * *"), "bad minute"),
        (("--at", "2020-01-01T00:00"), "never occurs"),
        (("--every", "1h", "--timezone", "Mars/Base"), "timezone"),
        (("--every", "1h", "--target", "telegarm:4"), "no platform “telegarm”"),
        (("--every", "1h", "--target", "all"), "No platform has a home"),
    ],
)
def test_a_wrong_job_is_refused(arguments: tuple[str, ...], why: str) -> None:
    """What is wrong is said in a sentence, and nothing is made."""
    answered("jobs", "add", "First", "--every", "1h")
    assert why in refused("jobs", "add", "Hello", *arguments)
    assert len(json.loads(answered("jobs", "list", "--json"))) == 1


def test_a_job_that_is_not_there_is_told() -> None:
    """A number that no job has is an error, and not a page of nothing."""
    answered("jobs", "add", "Hello", "--every", "1h")
    for verb in ("show", "pause", "resume", "run", "runs", "delete"):
        assert "no such job (7)" in refused("jobs", verb, "7")
    assert "no such job" in refused("jobs", "show", "1", "--profile", "work")


def test_numbers_and_targets_are_completed() -> None:
    """A shell offers the jobs by number, and what a target may begin with."""
    assert complete_job("") == []
    answered("jobs", "add", "Hello", "--every", "1h")

    assert complete_job("1") == [("1", "Hello")]
    assert complete_job("2") == []
    assert complete_target("l") == ["local"]
    assert complete_target("local,o") == ["local,origin"]


def test_words_are_owed_without_a_gateway(home: Path) -> None:
    """What is sent by hand is in the ledger, and it is said who will carry it."""
    file = home / "note.txt"
    file.write_text("abc")
    told = answered("send", "local", "Hello", "--file", str(file))

    assert told.startswith("Owed to local (delivery 1).")
    assert "No gateway serves just now" in told
    sent = json.loads(answered("send", "local,local", "-", "--json", lines="Again"))
    assert [one["target"] for one in sent["sent"]] == ["local"]
    assert (sent["sent"][0]["delivery"], sent["is_served"]) == (2, False)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("telegarm:4", "Hello"), "no platform “telegarm”"),
        (("local", " "), "message is empty"),
        (("local", "Hello", "--file", "missing.txt"), "no such file"),
        (("all", "Hello"), "No platform has a home"),
        (("", "Hello"), "target is missing"),
    ],
)
def test_what_cannot_be_sent_is_refused(arguments: tuple[str, ...], why: str) -> None:
    """Nobody to send to, and nothing to send, are errors."""
    assert why in refused("send", *arguments)


def test_the_settings_name_platforms_and_homes(home: Path) -> None:
    """A platform of the settings is known before anybody came from there, and so is its home."""
    text = "[platforms.webhook]\nsecret = 'x'\nhome = 'desk'\n"
    (home / "threadline.toml").write_text(text)

    assert "Owed to webhook:desk" in answered("send", "webhook", "Hello")
    assert "Owed to webhook:other" in answered("send", "webhook:other", "Hello")
    assert "webhook" in refused("send", "telegram", "Hello")
