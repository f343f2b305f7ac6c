"""What this server can be made to ask: whose word it takes for an address, and which ones never.

Addresses come in with the model of a session (when it begins, when it is changed, and by a
command) and with settings (of models, servers of tools, and platforms). Members name none; what
is the machine's own is named only in the file, by hand.
"""

from pathlib import Path

import pytest

from tests.databases import FAST, on
from tests.web.resources.callers import calling
from tests.web.resources.test_settings import FILE, opened
from threadline.core.account import AccountRole
from threadline.store import Store

ANY = {"If-Match": "*"}
OWN = ["http://169.254.169.254/latest", "http://[fe80::1]/v1", "http://2852039166/"]
NO_HTTP = ["file://localhost/x", "ftp://example.org/", "gopher://127.0.0.1:6379/_"]
NEAR = "http://127.0.0.1:11434/v1"

SETTINGS = ["providers.local", "mcp.tools", "mcp.tools.url", "platforms.hook.callback"]


def naming(key: str, url: str) -> dict[str, object]:
    """Make a change that names an address, alone or in a whole table."""
    table = {"providers.local": "base_url", "mcp.tools": "url"}.get(key)
    return {key: url if table is None else {table: url}}


@on(FAST)
@pytest.mark.parametrize("url", [*OWN, *NO_HTTP])
async def test_no_session_asks_at_such_an_address(store: Store, url: str) -> None:
    """Neither one that begins, nor one that is changed, nor by a command, for whomever."""
    async with calling(store) as callers:
        id = await callers.talk("owner")
        model = {"model": "a", "base_url": url}
        begun = await callers.owner.post("/api/sessions", json={"text": "x", "model": model})
        changed = await callers.owner.patch(
            f"/api/sessions/{id}", json={"model": model}, headers=ANY
        )
        line = {"line": f"/model a {url}"}
        await callers.owner.post(f"/api/sessions/{id}/commands", json=line)
        listed = (await callers.owner.get("/api/sessions")).json()["items"]

    assert (begun.status_code, changed.status_code) == (422, 422)
    assert [row["session"]["id"] for row in listed] == [id]
    assert (await store.sessions.get(id)).choice is None


@on(FAST)
async def test_a_member_names_no_address_at_all(store: Store) -> None:
    """Also none that an owner may name, and also not by a command."""
    async with calling(store) as callers:
        id = await callers.talk("member")
        model = {"model": "a", "base_url": NEAR}
        begun = await callers.member.post("/api/sessions", json={"text": "x", "model": model})
        url = f"/api/sessions/{id}"
        changed = await callers.member.patch(url, json={"model": model}, headers=ANY)
        await callers.member.post(f"{url}/commands", json={"line": f"/model a {NEAR}"})
        job = {"prompt": "x", "schedule": "every day 9:00", "target": f"webhook:{NEAR}"}
        made = await callers.member.post("/api/jobs", json=job)
        allowed = await callers.owner.patch(url, json={"model": model}, headers=ANY)

    answers = [one.status_code for one in (begun, changed, made)]
    assert answers == [403, 403, 403]
    assert allowed.status_code == 200


@pytest.mark.parametrize("key", SETTINGS)
async def test_no_setting_is_given_such_an_address_from_afar(tmp_path: Path, key: str) -> None:
    """The owner is told to do it at the machine itself; what is no HTTP is a mistake anyway."""
    async with opened(tmp_path) as desk:
        for url in OWN:
            answer = await desk.change(naming(key, url))
            assert (answer.status_code, answer.json()["title"]) == (403, "Refused")
        odd = [(await desk.change(naming(key, url))).status_code for url in NO_HTTP]
        # A file may not be named from afar, nor another address where a secret is kept.
        assert odd[0] == 403
        assert set(odd) <= {403, 422}
        assert desk.file.read_text() == FILE


async def test_the_file_may_name_what_is_the_machines_own(tmp_path: Path) -> None:
    """Somebody who edits it by hand knows what they do, and can still change other settings."""
    async with opened(tmp_path) as desk:
        own = "[providers.local]\nbase_url = 'http://169.254.1.1/v1'\n"
        desk.file.write_text(FILE + own)
        assert (await desk.client.post("/api/settings/reload")).status_code == 200
        assert (await desk.change({"concurrency": 3})).status_code == 200
        assert desk.reloading.config.providers["local"].base_url == "http://169.254.1.1/v1"


async def test_a_member_gives_no_setting(tmp_path: Path) -> None:
    """Not even a harmless address."""
    async with opened(tmp_path, role=AccountRole.MEMBER) as desk:
        assert (await desk.change({"providers.local.base_url": NEAR})).status_code == 403
