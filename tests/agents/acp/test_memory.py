"""What is remembered of a conversation that a program remembers by itself."""

import pytest

from threadline.agents.acp.memory import recall


@pytest.mark.parametrize("memory", [None, "", "{}", "[]", "nonsense", '{"name": 1}', "null"])
def test_a_memory_that_cannot_be_read_is_none(memory: str | None) -> None:
    """Whatever stands there, the conversation goes on as if nothing were known."""
    assert recall(memory) is None
