"""Models over the API: what may be chosen, without a word about keys."""

from tests.databases import FAST, on
from tests.web.resources.callers import calling
from threadline.config import parse_config
from threadline.store import Store

SETTINGS = """
[agent]
model = "openai:gpt-5"
models = ["ollama:qwen3:8b"]
"""
KEY = "a-key-that-nobody-sees"


@on(FAST)
async def test_a_member_is_told_of_what_is_offered(store: Store) -> None:
    """An owner may choose any model of a provider that has a key; nobody is told the key."""
    config = parse_config(SETTINGS, "threadline.toml", environ={"OPENAI_API_KEY": KEY})
    async with calling(store, config=config) as callers:
        owner = await callers.owner.get("/api/models")
        member = await callers.member.get("/api/models?profile=main")

    assert member.json()["items"] == [
        {
            "name": "openai:gpt-5",
            "provider": "openai",
            "is_default": True,
            "is_offered": True,
            "is_usable": True,
            "context_tokens": 400_000,
            "input_price": "1.25",
            "output_price": "10",
        },
        {
            "name": "ollama:qwen3:8b",
            "provider": "ollama",
            "is_default": False,
            "is_offered": True,
            "is_usable": True,
            "context_tokens": None,
            "input_price": None,
            "output_price": None,
        },
    ]
    assert len(owner.json()["items"]) > 2
    assert KEY not in owner.text + member.text


@on(FAST)
async def test_where_nothing_is_offered_there_is_nothing_to_choose(store: Store) -> None:
    """The echo answers, and no provider has a key."""
    async with calling(store) as callers:
        told = await callers.member.get("/api/models")

    assert told.json() == {"items": [], "next": None}
