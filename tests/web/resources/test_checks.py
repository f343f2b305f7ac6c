"""Probes over the API: what the settings name is called, and nothing else."""

from importlib import import_module

from tests.databases import FAST, on
from tests.doubles.providers import ProviderDouble, Says, Unauthorised
from tests.web.resources.callers import calling
from threadline.config import parse_config
from threadline.store import Store

# The SDK takes seconds to load, which counts as time of the first probe.
for module in ("threadline.agents.model.models", "pydantic_ai.models.openai"):
    import_module(module)

KEY = "sk-s3cret-of-mine"
SETTINGS = """
[agent]
model = "openai:a"
fallback = ["openai:b"]
[providers.openai]
base_url = "{url}/openai/v1"
api_key = "{key}"
"""


@on(FAST)
async def test_a_model_is_asked_for_a_word(store: Store) -> None:
    """Only the one that was named; who answered is told."""
    async with ProviderDouble() as double:
        double.will(Says("yes"))
        text = SETTINGS.format(url=double.url, key=KEY)
        config = parse_config(text, "threadline.toml", environ={})
        async with calling(store, config=config) as callers:
            body = {"names": ["model openai:a", "model openai:elsewhere"]}
            answer = await callers.owner.post("/api/probes", json=body)

        (told,) = answer.json()["items"]
        assert (told["name"], told["is_well"]) == ("model openai:a", True)
        assert len(double.requests) == 1


@on(FAST)
async def test_what_does_not_answer_is_told_without_a_secret(store: Store) -> None:
    """Without a name everything is called; a wrong key is said to be wrong, and not shown."""
    async with ProviderDouble() as double:
        double.will(Unauthorised())
        double.will(Says("yes"))
        text = SETTINGS.format(url=double.url, key=KEY)
        config = parse_config(text, "threadline.toml", environ={})
        async with calling(store, config=config) as callers:
            answer = await callers.owner.post("/api/probes", json={})
            refused = await callers.member.post("/api/probes", json={})

        assert [one["is_well"] for one in answer.json()["items"]] == [False, True]
        assert KEY not in answer.text
        assert refused.status_code == 403
        assert len(double.requests) == 2
