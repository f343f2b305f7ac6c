"""The log: for people or programs, with the turn it belongs to, and without secrets."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from structlog.contextvars import bound_contextvars

from threadline.cli.logs import logged
from threadline.config.gateway_section import LogFormat, LogLevel, LogSettings

log = logging.getLogger("threadline.test")


@contextmanager
def written(format: LogFormat, level: LogLevel = LogLevel.INFO) -> Iterator[io.StringIO]:
    """Write the log into memory for as long as this lasts."""
    stream, settings = io.StringIO(), LogSettings(format=format, level=level)
    with logged(settings, {"t0ken-t0ken", "ken"}, stream=stream):
        yield stream


def test_a_program_reads_json() -> None:
    """One object a line, with the ids of the turn that it belongs to."""
    with written(LogFormat.AUTO) as stream, bound_contextvars(turn_id=7):
        log.info("Turn %s failed", 7)

    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"], line["turn_id"]) == ("Turn 7 failed", "info", 7)
    assert line["logger"] == "threadline.test"
    assert line["timestamp"].endswith("Z")


def test_a_person_reads_lines() -> None:
    """What somebody wrote can neither steer the terminal nor pretend to be another line."""
    with written(LogFormat.CONSOLE) as stream, bound_contextvars(turn_id=7):
        log.warning("odd \x1b[31mname\nerror   a line of its own")

    (line,) = stream.getvalue().splitlines()
    assert "warning odd [31mname ⏎ error   a line of its own  turn_id=7" in line
    assert "\x1b" not in line


def test_what_is_less_grave_is_left_out() -> None:
    """From the level of the settings on."""
    with written(LogFormat.JSON, LogLevel.ERROR) as stream:
        log.warning("not now")
        log.error("now")

    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["now"]


@pytest.mark.parametrize("format", [LogFormat.CONSOLE, LogFormat.JSON])
def test_no_secret_is_written(format: LogFormat) -> None:
    """Not in a message, not in what goes with it, not in an error; a short word is no secret."""
    with written(format) as stream, bound_contextvars(url="https://host/t0ken-t0ken"):
        log.info("Fetching %s, a token", "https://host/t0ken-t0ken")
        try:
            raise ValueError("t0ken-t0ken")
        except ValueError:
            log.exception("It broke")

    assert "t0ken-t0ken" not in stream.getvalue()
    assert "a token" in stream.getvalue()
    assert "ValueError" in stream.getvalue()


@pytest.mark.parametrize("name", ["httpx2", "openai._base_client", "anthropic", "aiogram.event"])
def test_packages_do_not_tell_whom_they_called(name: str) -> None:
    """An address may hold a token, and a request what somebody said."""
    with written(LogFormat.JSON, LogLevel.DEBUG) as stream:
        logging.getLogger(name).info("HTTP Request: POST https://host/s/in-the-path/mcp")

    assert stream.getvalue() == ""
