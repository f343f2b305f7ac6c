"""The items of which a response of OpenAI is made, each with the events that tell of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.doubles.providers.script import Calls, Redacts, Refuses, RunsOut, Says, Thinks, Word, cut
from tests.doubles.providers.wire import Json

_PREFIX = {"reasoning": "rs", "message": "msg", "function_call": "fc"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item: as it is in the end, and the pieces in which it comes."""

    begun: Json
    """As it is announced."""
    whole: Json
    """As it is in the end."""
    part: Json | None = None
    """The part of it that is streamed."""
    pieces: tuple[str, ...] = ()

    def named(self, number: int, place: int) -> "Item":
        """Give it the ids that it has in the answer to one request."""
        kind = self.whole["type"]
        ids = {"id": f"{_PREFIX[kind]}_{number:04}_{place}"}
        if kind == "function_call":
            ids["call_id"] = f"call_{number:04}_{place}"
        return replace(self, begun={**self.begun, **ids}, whole={**self.whole, **ids})

    def opening(self, place: int) -> Iterator[Json]:
        """Tell of it up to its last piece."""
        at = {"output_index": place, "item_id": self.whole["id"]}
        yield _added(self.begun, place)
        name, index = self._streamed()
        if self.part is not None:
            empty = {**self.part, _field(self.part): ""}
            yield {"type": f"response.{_shell(index)}.added", **at, **index, "part": empty}
        for piece in self.pieces:
            more = _likelihoods(name)
            yield {"type": f"response.{name}.delta", **at, **index, "delta": piece, **more}

    def closing(self, place: int) -> Iterator[Json]:
        """Tell that it is all there."""
        at = {"output_index": place, "item_id": self.whole["id"]}
        name, index = self._streamed()
        text = "".join(self.pieces)
        if self.part is not None:
            said = {_field(self.part): text, **_likelihoods(name)}
            yield {"type": f"response.{name}.done", **at, **index, **said}
            yield {"type": f"response.{_shell(index)}.done", **at, **index, "part": self.part}
        elif name:
            function = {"arguments": text, "name": self.whole["name"]}
            yield {"type": f"response.{name}.done", **at, **function}
        yield {"type": "response.output_item.done", "output_index": place, "item": self.whole}

    def _streamed(self) -> tuple[str, Json]:
        """Answer how the events of its pieces are called, and how they are counted."""
        if self.whole["type"] == "function_call":
            return "function_call_arguments", {}
        if self.part is None:
            return "", {}
        if self.part["type"] == "summary_text":
            return "reasoning_summary_text", {"summary_index": 0}
        return str(self.part["type"]), {"content_index": 0}


def items_of(word: Word, *, shows_seal: bool) -> Iterator[Item]:
    """Write one word as items that have no ids yet."""
    match word:
        case Says(text=text, chunks=chunks):
            part: Json = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
            yield _message(part, text, chunks)
        case Refuses(text=text) if text:
            yield _message({"type": "refusal", "refusal": text}, text, 2)
        case Thinks(text=text, chunks=chunks):
            yield _reasoning(text, chunks, word.sealed if shows_seal else None)
        case Redacts(seal=seal):
            yield _reasoning("", 1, seal if shows_seal else None)
        case Calls(tools=tools):
            for name, arguments in tools:
                call = {"type": "function_call", "name": name}
                yield Item(
                    begun={**call, "arguments": "", "status": "in_progress"},
                    whole={**call, "arguments": arguments, "status": "completed"},
                    pieces=tuple(cut(arguments, 2)),
                )
        case Refuses() | RunsOut():
            return


def _message(part: Json, text: str, chunks: int) -> Item:
    message = {"type": "message", "role": "assistant"}
    return Item(
        begun={**message, "content": [], "status": "in_progress"},
        whole={**message, "content": [part], "status": "completed"},
        part=part,
        pieces=tuple(cut(text, chunks)),
    )


def _reasoning(text: str, chunks: int, seal: str | None) -> Item:
    part = {"type": "summary_text", "text": text} if text else None
    sealed = {"encrypted_content": seal} if seal else {}
    return Item(
        begun={"type": "reasoning", "summary": [], **sealed},
        whole={"type": "reasoning", "summary": [part] if part else [], **sealed},
        part=part,
        pieces=tuple(cut(text, chunks)),
    )


def _added(item: Json, place: int) -> Json:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def _likelihoods(name: str) -> Json:
    return {"logprobs": []} if name == "output_text" else {}


def _shell(index: Json) -> str:
    return "reasoning_summary_part" if "summary_index" in index else "content_part"


def _field(part: Json) -> str:
    return "refusal" if part["type"] == "refusal" else "text"
