"""A client that a third-party generator makes of the description, against a running server."""

import compileall
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openapi_python_client
import pytest
from openapi_python_client.config import Config as GeneratorConfig
from openapi_python_client.config import ConfigFile, MetaType

from tests.web.resources.test_settings import opened
from threadline.web.server import serve

PACKAGE = "generated_threadline_client"


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder from which packages are imported, and forget them afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path / PACKAGE
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def generate(description: dict[str, Any], output: Path) -> list[str]:
    """Generate a client into a folder; answer what the generator warns of."""
    source = output.parent / "openapi.json"
    source.write_text(json.dumps(description))
    config = GeneratorConfig.from_sources(
        ConfigFile(post_hooks=[], package_name_override=PACKAGE),
        MetaType.NONE,
        source,
        "utf-8",
        overwrite=True,
        output_path=output,
    )
    return [f"{one.header}: {one.detail}" for one in openapi_python_client.generate(config=config)]


async def test_a_generated_client_reads_settings_and_sessions(tmp_path: Path, output: Path) -> None:
    """Every operation becomes code that compiles, and answers become typed values.

    Two enums of one name were published under internal names, and a client lost the settings.
    """
    home = tmp_path / "home"
    home.mkdir()
    async with opened(home) as desk:
        description = (await desk.client.get("/api/openapi.json")).json()
        warnings = generate(description, output)
        is_compiled = compileall.compile_dir(output, quiet=1)
        operations = [
            one["operationId"] for ops in description["paths"].values() for one in ops.values()
        ]
        modules = {path.stem for path in (output / "api").rglob("*.py")}

        # The generator knows JSON and text; of streams it leaves out what they answer.
        assert [one for one in warnings if "Unsupported content_type" not in one] == []
        assert is_compiled
        assert set(operations) <= modules

        token = desk.client.headers["Authorization"].removeprefix("Bearer ")
        app = desk.client._transport.app  # type: ignore[attr-defined]
        async with serve(app, "127.0.0.1", 0) as url:
            made = importlib.import_module(PACKAGE).AuthenticatedClient(
                base_url=f"{url}/api", token=token
            )
            async with made as client:
                settings = await call("settings", "list_all_settings", client)
                sessions = await call("sessions", "list_sessions", client)
                platforms = await call("platforms", "list_platforms", client)

    busy = next(one for one in settings.items if one.key == "busy.default")
    assert (busy.value, busy.origin.value, busy.remote) == ("queue", "file", True)
    assert sessions.items == []
    assert {one.name for one in platforms.platforms} == {"hook", "local"}


async def test_schemas_have_plain_names(tmp_path: Path) -> None:
    """No name of a schema tells where in our code it stands, as two of one name would."""
    async with opened(tmp_path) as desk:
        description = (await desk.client.get("/api/openapi.json")).json()

    names = description["components"]["schemas"]
    assert [name for name in names if "__" in name or "threadline" in name] == []
    assert {"Origin", "SettingOrigin"} <= set(names)


async def call(tag: str, operation: str, client: object) -> Any:
    """Call an operation of the generated client; answer the value that it reads."""
    module = importlib.import_module(f"{PACKAGE}.api.{tag}.{operation}")
    answer = await module.asyncio_detailed(client=client)
    assert answer.status_code == 200
    return answer.parsed
