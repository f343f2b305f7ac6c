"""The rules of OpenAI's Responses: what it answers a request with 400 for."""

from itertools import pairwise

from tests.doubles.providers.openai_rules import check_model, check_tools
from tests.doubles.providers.signatures import Seals
from tests.doubles.providers.wire import Json, Objection, lines


class Given:
    """What was given out before, by which what comes back is judged."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.seals = Seals()
        self.before: dict[str, str] = {}
        """The reasoning that stands before an item, by their ids."""

    def keep(self, output: list[Json]) -> None:
        """Remember which items belong together."""
        for thought, item in pairwise(output):
            if thought["type"] == "reasoning" and item["type"] != "reasoning":
                self.before[item["id"]] = thought["id"]


def check(asked: Json, given: Given) -> list[Json]:
    """Object to a request that OpenAI would not take; else answer what it holds."""
    check_model(asked)
    tools = asked.get("tools") or []
    check_tools([tool for tool in tools if tool.get("type") == "function"])
    if asked.get("previous_response_id") or asked.get("conversation"):
        raise Objection("Previous response cannot be used here", code="previous_response_not_found")
    said = asked.get("input")
    items = [{"role": "user", "content": said}] if isinstance(said, str) else lines(said)
    _check_calls(items)
    _check_ids(items)
    for place, item in enumerate(items):
        if item.get("type") == "reasoning":
            _check_thought(items, place, given)
        elif thought := given.before.get(str(item.get("id"))):
            _check_thought_of(items, place, thought)
    return items


def _check_calls(items: list[Json]) -> None:
    """See that every call has its output, and every output its call before it."""
    called: set[str] = set()
    done: set[str] = set()
    for item in items:
        if item.get("type") == "function_call":
            called.add(item["call_id"])
        elif item.get("type") == "function_call_output":
            if item.get("call_id") not in called - done:
                raise Objection(
                    f"No tool call found for function call output with call_id"
                    f" {item.get('call_id')}.",
                    param="input",
                )
            done.add(item["call_id"])
    if left := sorted(called - done):
        raise Objection(f"No tool output found for function call {left[0]}.", param="input")


def _check_ids(items: list[Json]) -> None:
    ids = [item["id"] for item in items if item.get("id")]
    if doubled := sorted({id for id in ids if ids.count(id) > 1}):
        raise Objection(
            f"Duplicate item found with id {doubled[0]}. Remove duplicate items from your input"
            " and try again.",
            param="input",
        )


def _check_thought(items: list[Json], place: int, given: Given) -> None:
    """See that a thought is one of ours, and that what came of it follows."""
    item = items[place]
    seal = item.get("encrypted_content")
    if seal is not None and not given.seals.fits(seal):
        raise Objection(
            f"The encrypted content {seal[:12]}… could not be verified.",
            code="invalid_encrypted_content",
        )
    if seal is None and item.get("id") not in given.before.values():
        raise Objection(f"Item with id '{item.get('id')}' not found.", param="input")
    follower = items[place + 1] if place + 1 < len(items) else {}
    if follower.get("role") == "user" or not follower:
        raise Objection(
            f"Item '{item.get('id')}' of type 'reasoning' was provided without its required"
            " following item.",
            param="input",
        )


def _check_thought_of(items: list[Json], place: int, thought: str) -> None:
    if thought not in {item.get("id") for item in items[:place]}:
        item = items[place]
        raise Objection(
            f"Item '{item['id']}' of type '{item.get('type', 'message')}' was provided without its"
            f" required 'reasoning' item: '{thought}'.",
            param="input",
        )
