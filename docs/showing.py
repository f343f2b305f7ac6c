# ruff: noqa: INP001 - the documents are no package
"""The agent of the pictures: knows a few answers by heart, so that every picture is the same."""

import asyncio
from collections.abc import AsyncIterator

from threadline.core.agent import Output, Question, Request, TextDelta
from threadline.core.message import NewMessage, Reasoning, Role, ToolCall, ToolResult, say

FERRY = """Yes, two of the Sunday ferries take bicycles:

| ferry | leaves | bicycles |
|---|---|---|
| *Marie* | 09:40 | up to 12, free |
| *Anton* | 13:15 | none |
| *Marie* | 17:05 | up to 12, free |

I would take the **09:40**: it was never full in October. Shall I remind you on Saturday evening?
"""
PARCEL = "It left our house this morning and arrives tomorrow before noon."
CODE = """Read it as a stream, so that its size does not matter:

```python
import csv

with open("sales.csv", newline="") as file:
    total = sum(float(row["amount"]) for row in csv.DictReader(file))
```
"""
CAKE = "A kilo of plums, a yeast dough, and crumbs of butter, flour and sugar on top. 40 minutes."


async def answer(request: Request) -> AsyncIterator[Output]:
    """Answer what one of the pictures asks."""
    words = request.asked[-1].text
    if "ferry" in words:
        async for output in _look_up():
            yield output
    elif "downloads" in words:
        yield Question(text="May I delete 214 files that are older than a year?", tools=("delete",))
    elif "story" in words:
        yield TextDelta(
            text="Once upon a time there was a thread that nobody could cut. It began at a"
        )
        await asyncio.Event().wait()
    else:
        known = {"parcel": PARCEL, "CSV": CODE, "cake": CAKE}
        found = (text for word, text in known.items() if word in words)
        yield say(Role.ASSISTANT, next(found, "Gladly."))


async def _look_up() -> AsyncIterator[Output]:
    thought = Reasoning(text="The timetable of the winter half-year began on 25 October.")
    call = ToolCall(id="1", name="timetable", arguments='{"line": "island", "day": "Sunday"}')
    yield NewMessage(role=Role.ASSISTANT, parts=(thought, call))
    result = ToolResult(
        call_id="1", text="09:40 Marie (12 bicycles)\n13:15 Anton\n17:05 Marie (12)"
    )
    yield NewMessage(role=Role.TOOL, parts=(result,))
    yield say(Role.ASSISTANT, FERRY)
