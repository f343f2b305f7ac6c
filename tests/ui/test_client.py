"""The TypeScript client that is shipped fits the API that is served."""

import json
import re
import shutil
from pathlib import Path

import httpx

from tests.architecture.source import DOCS
from tests.cli.server_process import Server
from tests.docs.login_link import link_of
from tests.ui.compiler import UI, compile_into, run_compiled
from threadline.testing.deadline import HANG_SECONDS

PROGRAM = """
import { talk } from "./example.ts";
const [base, token] = %s;
console.log(JSON.stringify(await talk(base, token)));
"""


def test_the_example_of_the_documents_runs(tmp_path: Path) -> None:
    """The compiler takes the whole client and the example of the tour, and a server answers it."""
    source, built = tmp_path / "source", tmp_path / "built"
    shutil.copytree(UI / "src" / "api", source, ignore=shutil.ignore_patterns("*.test.ts"))
    found = re.search(r"```ts\n(.*?)```", (DOCS / "http-api.md").read_text("utf-8"), re.DOTALL)
    assert found is not None
    (source / "example.ts").write_text(found[1], encoding="utf-8")
    with Server(tmp_path) as server:
        url = server.url()
        given = json.dumps([url, token_for(url, link_of(server))])
        program = PROGRAM % f"{given} as [string, string]"
        (source / "program.ts").write_text(program, encoding="utf-8")
        wrong = compile_into(built, source)
        (built / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        done = run_compiled(built / "program.js")

    assert (wrong, done.stderr) == ("", "")
    assert json.loads(done.stdout) == ["local", "Typed", "412 Stale"]


def token_for(url: str, link: str) -> str:
    """Log in by a link and make a token."""
    with httpx.Client(base_url=url, timeout=HANG_SECONDS) as client:
        client.get(link)
        csrf = client.get("/api/me").json()["csrf"]
        wish = {"name": "tests", "scopes": ["read", "write"]}
        made = client.post("/api/tokens", json=wish, headers={"X-CSRF-Token": csrf})
        return str(made.json()["token"])
