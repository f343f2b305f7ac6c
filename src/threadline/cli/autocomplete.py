"""Autocomplete: what a line at the terminal may become while it is being typed."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import suppress

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from threadline.cli.chat_session import Conversation
from threadline.cli.output import local
from threadline.core.command import COMMANDS
from threadline.core.errors import ThreadlineError
from threadline.core.session_list import SessionRow

_OFFERED = 50
_RESUME = "/resume "
_MODEL = "/model "


class Commands(Completer):
    """Completes the names of commands, from the table, and conversations and models by name."""

    def __init__(self, conversation: Conversation) -> None:
        """Offer what can be done in a conversation."""
        self._conversation = conversation

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Offer what a slash and some letters may become."""
        text = document.text_before_cursor
        if text.startswith("/") and " " not in text:
            for command in COMMANDS:
                if command.name.startswith(text[1:].lower()):
                    yield Completion(
                        f"/{command.name}",
                        start_position=-len(text),
                        display=command.usage,
                        display_meta=command.help,
                    )

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Offer commands, conversations after `/resume`, and models after `/model`."""
        for completion in self.get_completions(document, complete_event):
            yield completion
        text = document.text_before_cursor
        if text.lower().startswith(_RESUME):
            with suppress(ThreadlineError):  # a line that is typed has no place for a sentence
                rows = await self._conversation.own_sessions(_OFFERED)
                for completion in offer_sessions(rows, text[len(_RESUME) :].lstrip()):
                    yield completion
        if text.lower().startswith(_MODEL):
            names = await self._conversation.known_models()
            for completion in offer_models(names, text[len(_MODEL) :].lstrip()):
                yield completion


def offer_models(names: Iterable[str], typed: str) -> Iterable[Completion]:
    """Offer the models that have what was typed in their name."""
    found = [name for name in names if typed.casefold() in name.casefold()]
    for name in found[:_OFFERED]:
        yield Completion(name, start_position=-len(typed))


def offer_sessions(rows: Iterable[SessionRow], typed: str) -> Iterable[Completion]:
    """Offer conversations whose title has what was typed, or whose id begins so."""
    rows = list(rows)
    titles = [row.session.title for row in rows]
    for row in rows:
        id, title = row.session.id, row.session.title or ""
        if typed.casefold() in title.casefold() or id.startswith(typed):
            # A title that several have would be a question again.
            is_plain = bool(title) and titles.count(title) == 1 and not title.isdigit()
            yield Completion(
                title if is_plain else id,
                start_position=-len(typed),
                display=title or id,
                display_meta=f"{id} · {local(row.session.last_activity_at)}",
            )
