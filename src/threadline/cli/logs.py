"""Logs: lines for a person or for a program, with the turn they belong to, and without secrets."""

import logging
import sys
from collections.abc import Collection, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor

from threadline.cli.output import clean
from threadline.config.gateway_section import LogFormat, LogLevel, LogSettings
from threadline.core.redaction import mask_secrets

_QUIET = (
    "asyncio", "uvicorn",
    "httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "aiogram",
    "openai", "anthropic", "google_genai",
)  # fmt: skip
"""They tell of the loop, of every request with an address that may hold a token, and of what was
said in it.
"""


@contextmanager
def logged(
    settings: LogSettings, secrets: Collection[str] = (), *, stream: TextIO | None = None
) -> Iterator[None]:
    """Let everything that is logged come out at one place, for as long as this lasts."""
    out = sys.stderr if stream is None else stream
    is_json = settings.format is LogFormat.JSON or (
        settings.format is LogFormat.AUTO and not out.isatty()
    )
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        SecretFilter(secrets),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _renderer(is_json=is_json, is_terminal=out.isatty()),
        ],
    )
    place = logging.StreamHandler(out)
    place.setFormatter(formatter)
    root = logging.getLogger()
    before = root.level
    root.addHandler(place)
    root.setLevel(LogLevel(settings.level).upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(place)
        root.setLevel(before)


class SecretFilter:
    """Takes known secrets out of whatever is about to be written."""

    def __init__(self, secrets: Collection[str]) -> None:
        """Know the secrets, also those that are added later."""
        self._secrets = secrets

    def __call__(
        self, _logger: Any, _method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        """Hide them in one line of the log."""
        return {name: self._hidden(value) for name, value in event.items()}

    def _hidden(self, value: object) -> object:
        if isinstance(value, str):
            return mask_secrets(value, self._secrets)
        if isinstance(value, dict):
            return {key: self._hidden(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._hidden(one) for one in value]
        return value


def _renderer(*, is_json: bool, is_terminal: bool) -> Processor:
    if is_json:
        return structlog.processors.JSONRenderer(default=str, ensure_ascii=True)
    return _Line(colors=is_terminal)


class _Line:
    """Writes one line for a person, out of which nothing can steer their terminal."""

    def __init__(self, *, colors: bool) -> None:
        self._grey, self._plain = ("\x1b[2m", "\x1b[0m") if colors else ("", "")

    def __call__(self, _logger: Any, _method: str, event: EventDict) -> str:
        at, level = str(event.pop("timestamp", ""))[11:19], str(event.pop("level", "info"))
        event.pop("logger", None)
        said, trace = event.pop("event", ""), event.pop("exception", None)
        more = " ".join(f"{key}={value}" for key, value in sorted(event.items()))
        line = clean(f"{level:<7} {said}{f'  {more}' if more else ''}".replace("\n", " ⏎ "))
        shown = f"{self._grey}{at}{self._plain} {line}"
        return f"{shown}\n{clean(str(trace))}" if trace else shown
