"""Anything that the description of the API allows, and much that it does not, is answered by it."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

import httpx
import hypothesis
import requests
import schemathesis
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.web.resources.conftest import Template
from tests.web.resources.sample_store import HERE, Caller, Household, describe, move_in
from tests.web.resources.table import TABLE

EXAMPLES = 6
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
LEFT_OUT = frozenset({"follow", "import_history", "log_in_by_password", "set_password"})
"""What has no end, takes a file, or takes long because it has to: each has tests of its own."""


@dataclass
class Findings:
    """What was answered, and what of it was wrong."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: dict[str, str] = field(default_factory=dict)

    def __iadd__(self, other: "Findings") -> Self:
        self.statuses += other.statuses
        self.wrong |= other.wrong
        return self


@cache
def operations() -> dict[str, Any]:
    """Read every operation from the description of the API, by its id."""
    open_to_all = {**describe(), "security": []}  # who asks is for us to say
    schema = schemathesis.openapi.from_dict(open_to_all)
    found: list[Any] = [one.ok() for one in schema.get_all_operations() if isinstance(one, Ok)]
    return {one.definition.raw["operationId"]: one for one in found}


_SETTINGS = hypothesis.settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.generate],
)


def try_one(
    households: dict[Caller, Household], loop: asyncio.AbstractEventLoop, name: str
) -> dict[Caller, Findings]:
    """Let each caller, at home, ask for one operation with made-up values.

    They are of things that are there or not. Making them up costs more than asking.
    """
    operation, found = operations()[name], {caller: Findings() for caller in households}
    right, wrong = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)

    @_SETTINGS
    @hypothesis.given(case=st.one_of(right, wrong), is_real=st.booleans())
    def ask(case: Case[Any], is_real: bool) -> None:
        for caller, household in households.items():
            if is_real:
                case.path_parameters.update(real_ones(household, name))
            response = send(household, caller, loop, case)
            try:
                case.validate_response(response, checks=CHECKS)
            except BaseExceptionGroup as failures:
                told = "; ".join(str(one).splitlines()[0] for one in failures.exceptions)
                wrong = f"{response.request.method} {response.request.url} {told}"
                found[caller].wrong[told] = wrong
            found[caller].statuses[response.status_code] += 1

    ask()
    return found


def real_ones(household: Household, name: str) -> dict[str, Any]:
    """Answer the path of something that is there."""
    path, things = TABLE[name].path, household.inventory.things
    return {key: things[str(value)[1:]] if value != 2 else 2 for key, value in path.items()}


def send(
    household: Household,
    caller: Caller,
    loop: asyncio.AbstractEventLoop,
    case: Case[Any],
) -> httpx.Response:
    """Send a request on the loop that serves."""
    kwargs = case.as_transport_kwargs(base_url=f"{HERE}/api")
    kwargs["headers"] = {**kwargs.get("headers", {}), **household.headers(caller)}
    kwargs.pop("cookies", None)
    written: Any = requests.Request(**kwargs).prepare()
    request = household.client.build_request(
        written.method, written.url, headers=dict(written.headers), content=written.body
    )
    sending = asyncio.run_coroutine_threadsafe(household.client.send(request), loop)
    return sending.result(30)


async def test_whatever_is_asked_the_answer_is_a_described_one(
    template: Template, tmp_path: Path
) -> None:
    """Nothing fails inside, and no status, header, type or shape is one that is not documented."""
    loop = asyncio.get_running_loop()
    found = {Caller.OWNER: Findings(), Caller.MEMBER: Findings()}
    for name in TABLE.keys() - LEFT_OUT:
        async with (
            move_in(*template, tmp_path / f"{name}-owner") as owners,
            move_in(*template, tmp_path / f"{name}-member") as members,
        ):
            households = {Caller.OWNER: owners, Caller.MEMBER: members}
            for caller, more in (await asyncio.to_thread(try_one, households, loop, name)).items():
                found[caller] += more

    for all_found in found.values():
        assert all_found.wrong == {}
        assert all_found.statuses.keys() >= {200, 201, 204, 403, 404, 422}
