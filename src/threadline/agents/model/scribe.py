"""The scribe: a model that writes titles and summaries."""

import asyncio
import re
from collections.abc import Sequence

from threadline.agents.model.desk import Desk
from threadline.agents.model.models import name_of, preload, window
from threadline.agents.model.prompts import SUMMARY, TITLE, ask_summary, ask_title
from threadline.agents.model.retries import Patience, Sleep
from threadline.agents.settings import ModelSettings
from threadline.agents.transcript import pack_lines, render_lines
from threadline.core.errors import AgentError, ConfigError, ContextFull
from threadline.core.message import Message
from threadline.core.notice import SUMMARY_LIMIT
from threadline.core.scribe import SUMMARY_TASK, TITLE_TASK, Written
from threadline.core.session import Session
from threadline.core.text import clean_title

PATIENCE = Patience(tries=3, altogether=30.0)
TITLE_WORDS = 7
_BEGINNING = 2_000
"""Tokens of a conversation by which it is named."""
_UNKNOWN_WINDOW = 24_000
_READING = 0.5
"""How much of its window a model is given to read at once; the rest is for a faulty guess."""
_MOST_CHUNKS = 24
_LINE_LIMITS = (20_000, 4_000, 1_000, 300)
"""Characters of a line, for as long as there are too many chunks."""
_FRAME = re.compile(r"""^[\s"'“”„‚‘’«»*_`#>-]+|[\s"'“”„‚‘’«»*_`.。]+$""")
_LABEL = re.compile(r"^(title|titel|titre|título)\s*:\s*", re.IGNORECASE)


class ModelScribe:
    """Writes with the model that is set for it, else with the one that answers in a session."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        patience: Patience = PATIENCE,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Load now what is heavy, so that nobody has to wait for it in the middle of a turn."""
        self._settings = settings
        self._patience = patience
        self._sleep = sleep
        preload(settings)
        self._window_of(settings.model)

    def window(self, session: Session) -> int | None:
        """Tell how many tokens the model of a session can read at once; None: nobody knows."""
        return self._window_of(name_of(self._settings, session.choice))

    async def write_title(self, session: Session, lines: Sequence[Message]) -> Written:
        """Name a conversation in three to seven words, by how it began."""
        rendered = list(render_lines(lines, _LINE_LIMITS[1]))
        beginning = next(pack_lines(rendered, _BEGINNING), "")
        if not beginning:
            raise AgentError("There is nothing to name in this conversation", id=session.id)
        desk = self._sit_down(session, TITLE_TASK)
        title = tidy_title(await desk.ask(ask_title(beginning), TITLE))
        if not title:
            raise AgentError(f"{desk.name} found no title", id=session.id)
        return Written(text=title, usage=tuple(desk.spent))

    async def write_summary(
        self, session: Session, lines: Sequence[Message], focus: str = ""
    ) -> Written:
        """Write what the agent has to know in the place of these lines; `focus` matters most."""
        desk = self._sit_down(session, SUMMARY_TASK)
        room = int((self._window_of(desk.name) or _UNKNOWN_WINDOW) * _READING)
        while True:
            try:
                text = await _fold(desk, lines, focus, room)
            except ContextFull:
                # The guess was too good, or the window is smaller than it is said to be.
                room //= 2
                if room < _BEGINNING:
                    raise
            else:
                return Written(text=text, usage=tuple(desk.spent))

    def _window_of(self, name: str) -> int | None:
        try:
            return window(self._settings, name)
        except ConfigError:
            return None  # whoever asks this model is told

    def _sit_down(self, session: Session, task: str) -> Desk:
        own, choice = self._settings.scribe, session.choice
        return Desk(
            settings=self._settings,
            name=own or name_of(self._settings, choice),
            base_url=None if own or choice is None else choice.base_url,
            task=task,
            patience=self._patience,
            sleep=self._sleep,
        )


def tidy_title(text: str) -> str:
    """Make a title of what a model wrote: one line, a few words, and nothing around them."""
    line = next(filter(None, map(clean_title, text.splitlines())), "")
    bare = _FRAME.sub("", _LABEL.sub("", _FRAME.sub("", line)))
    return _FRAME.sub("", clean_title(" ".join(bare.split()[:TITLE_WORDS])))


async def _fold(desk: Desk, lines: Sequence[Message], focus: str, room: int) -> str:
    """Sum up a conversation chunk by chunk, each with the summary of those before."""
    summary = ""
    for chunk in _chunks_of(lines, room):
        asked = ask_summary(chunk, before=summary, focus=focus)
        summary = (await desk.ask(asked, SUMMARY)).strip()[:SUMMARY_LIMIT]
    if not summary:
        raise AgentError("There is nothing to sum up in this conversation")
    return summary


def _chunks_of(lines: Sequence[Message], room: int) -> list[str]:
    chunks: list[str] = []
    for limit in _LINE_LIMITS:
        chunks = list(pack_lines(list(render_lines(lines, limit)), room))
        if len(chunks) <= _MOST_CHUNKS:
            break
    return chunks
