"""Settings over the API: told with their origins, written into the file, and taken up at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.web.browser import HERE, make_token
from threadline.assembly.reload import Reloader, prepare_reloading
from threadline.config import Config
from threadline.config.config_source import Source
from threadline.core.account import AccountRole, TokenScope
from threadline.core.errors import Conflict
from threadline.core.session import BusyMode
from threadline.web.app import WebApp
from threadline.web.server import make_app

FILE = """\
database = "mine.db"  # beside this file

[busy]
default = "queue"  # one by one

[platforms.hook]
type = "webhook"
secret = "env:HOOK"
"""
SECRET = "sk-live-0123456789abcdef"


class Desk:
    """A server whose settings somebody changes."""

    def __init__(self, reloading: Reloader, client: httpx.AsyncClient) -> None:
        self.reloading, self.client = reloading, client
        self.file = reloading.source.file

    async def read(self) -> tuple[dict[str, dict[str, object]], str]:
        """Read all settings by their names, and the revision."""
        answer = await self.client.get("/api/settings")
        assert answer.status_code == 200, answer.text
        return {one["key"]: one for one in answer.json()["items"]}, answer.headers["ETag"]

    async def change(
        self, set: object = None, unset: object = None, *, seen: str | None = "*"
    ) -> httpx.Response:
        """Change settings; `seen` is what stands in If-Match."""
        body = {"set": {} if set is None else set, "unset": unset or []}
        headers = {} if seen is None else {"If-Match": seen}
        return await self.client.patch("/api/settings", json=body, headers=headers)


@asynccontextmanager
async def opened(
    root: Path, *, role: AccountRole = AccountRole.OWNER, **environ: str
) -> AsyncIterator[Desk]:
    """Serve a home, and sit down before it."""
    given = {"HOME": str(root), "TZ": "UTC", "HOOK": "a" * 32, **environ}
    source = Source(environ=given, folder=root)
    source.file.parent.mkdir()
    source.file.write_text(FILE)
    async with prepare_reloading(source) as reloading, reloading.gateway as gateway:
        store = gateway.store
        owner = await store.owner_account()
        if role is AccountRole.OWNER:
            headers = await make_token(store, *TokenScope, account=owner)
        else:
            bob = await store.make_account("bob", role)
            headers = await make_token(store, TokenScope.READ, TokenScope.WRITE, account=bob)
        site = WebApp(gateway, store, reloading.config, reloading=reloading)
        transport = httpx.ASGITransport(make_app(gateway, site=site))
        async with httpx.AsyncClient(transport=transport, base_url=HERE, headers=headers) as client:
            yield Desk(reloading, client)
        site.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with opened(tmp_path) as desk:
        yield desk


async def test_every_setting_is_told(tmp_path: Path) -> None:
    """With its origin, what it may be, and whether the environment wins over the file."""
    async with opened(tmp_path, THREADLINE_CONCURRENCY="7") as desk:
        found, _ = await desk.read()

        busy, concurrency = found["busy.default"], found["concurrency"]
        assert (busy["value"], busy["origin"], busy["place"]) == ("queue", "file", str(desk.file))
        assert busy["choices"] == ["queue", "collect", "interrupt", "steer"]
        assert (concurrency["value"], concurrency["default"]) == (7, 32)
        assert (concurrency["origin"], concurrency["overridden"]) == ("variable", True)
        assert found["server.port"]["restart"] is True
        assert found["agent.command"]["remote"] is False
        assert found["platforms.hook.secret"]["value"] == "env:HOOK"

        answer = (await desk.change({"concurrency": 3})).json()
        assert answer["overridden"] == ["concurrency"]


@pytest.mark.parametrize(
    "changes",
    [
        {"server.url": "https://evil.example"},
        {"server.hosts": ["evil.example"]},
        {"server.proxies": ["0.0.0.0/0"]},
        {"server": {"host": "0.0.0.0"}},
        {"server": None},
    ],
)
async def test_whose_requests_are_trusted_is_changed_on_the_machine(
    desk: Desk, changes: dict[str, object]
) -> None:
    """With another public address or proxy, pages and addresses of others would be believed."""
    given = {key: value for key, value in changes.items() if value is not None}
    unset = [key for key, value in changes.items() if value is None]

    answer = await desk.change(given, unset)

    assert answer.status_code == 403
    assert "only be changed on the machine" in answer.json()["detail"]
    assert desk.file.read_text() == FILE
    assert {one["remote"] for key, one in (await desk.read())[0].items() if "server." in key} == {
        False
    }


async def test_no_platform_with_a_reserved_name_is_made(desk: Desk) -> None:
    """A platform named `local` would speak as the owner; neither HTTP nor a reload makes one."""
    local = {"type": "webhook", "secret": "b" * 32}
    made = await desk.change({"platforms.local": local})
    desk.file.write_text(f'{FILE}\n[platforms.local]\ntype = "webhook"\nsecret = "env:HOOK"\n')
    reloaded = await desk.client.post("/api/settings/reload")

    assert (made.status_code, reloaded.status_code) == (422, 422)
    assert "platforms.local has a reserved name" in made.json()["detail"]
    assert "platforms.local has a reserved name" in reloaded.json()["detail"]
    assert not desk.reloading.gateway.platforms["local"].capabilities.receives


async def test_what_the_project_s_file_says_is_overridden(tmp_path: Path) -> None:
    """A change in the web app goes to the user's file, which the project's file wins over."""
    (tmp_path / "threadline.toml").write_text("concurrency = 2\n")
    async with opened(tmp_path) as desk:
        found, _ = await desk.read()
        answer = (await desk.change({"concurrency": 3, "drain_seconds": 5})).json()

    assert (found["concurrency"]["origin"], found["concurrency"]["overridden"]) == ("file", True)
    assert found["busy.default"]["overridden"] is False
    assert answer["overridden"] == ["concurrency"]


async def test_a_change_is_written_and_holds(desk: Desk) -> None:
    """The comments stay, the answer shows the new value, and the audit knows who it was."""
    _, seen = await desk.read()

    answer = await desk.change({"busy.default": "steer", "logs.level": "debug"}, seen=seen)

    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["failures"], told["restart"]) == ([], ["logs.level"])
    assert desk.file.read_text().startswith(FILE.replace('"queue"', '"steer"'))
    assert desk.reloading.gateway.store.rules.busy is BusyMode.STEER
    found, now = await desk.read()
    assert found["busy.default"]["value"] == "steer"
    assert answer.headers["ETag"] == now != seen
    acts = [(one.act, one.subject) for one in await desk.reloading.gateway.store.audit()]
    assert ("settings.changed", "busy.default") in acts

    assert (await desk.change(unset=["busy.default"])).status_code == 200
    assert desk.reloading.config.busy.default is BusyMode.QUEUE


async def test_what_was_written_is_noted_whatever_comes_of_it(desk: Desk) -> None:
    """If the gateway cannot go by it the file was changed all the same, and by whom is known."""

    def fail(_: Config) -> None:
        raise Conflict("Not now")

    desk.reloading.listen(fail)

    answer = await desk.change({"busy.default": "steer"})

    assert answer.status_code == 409
    assert 'default = "steer"' in desk.file.read_text()
    acts = [(one.act, one.subject) for one in await desk.reloading.gateway.store.audit()]
    assert acts == [("settings.changed", "busy.default")]


async def test_whoever_has_not_seen_it_changes_nothing(desk: Desk) -> None:
    """Also an edit by hand makes what was seen old."""
    _, seen = await desk.read()
    desk.file.write_text(FILE + "# by hand\n")

    assert (await desk.change({"concurrency": 3}, seen=None)).status_code == 428
    assert (await desk.change({"concurrency": 3}, seen=seen)).status_code == 412
    assert desk.file.read_text() == FILE + "# by hand\n"


async def test_a_secret_comes_in_and_never_out(desk: Desk) -> None:
    """Neither with the answer, nor in the file, nor in the audit."""
    answer = await desk.change({"providers.openai.api_key": SECRET})

    assert answer.status_code == 200, answer.text
    found, _ = await desk.read()
    assert str(found["providers.openai.api_key"]["value"]).startswith("file:secrets/")
    entries = await desk.reloading.gateway.store.audit()
    assert SECRET not in f"{answer.text}{found}{desk.file.read_text()}{entries}"
    assert desk.reloading.config.provider_for("openai").api_key == SECRET


async def test_a_platform_is_connected_and_removed(desk: Desk) -> None:
    """Without a restart, and the others do not notice."""
    hook = desk.reloading.gateway.platforms["hook"]
    added = {"platforms.second": {"type": "webhook", "secret": "b" * 32}}

    assert (await desk.change(added)).status_code == 200
    ready = (await desk.client.get("/readyz")).json()
    assert set(ready["platforms"]) == {"hook", "second", "local"}

    assert (await desk.change(unset=["platforms.second"])).status_code == 200
    assert "second" not in desk.reloading.gateway.platforms
    assert desk.reloading.gateway.platforms["hook"] is hook
    assert "[platforms.second]" not in desk.file.read_text()


WRONG: list[tuple[object, int, str]] = [
    ({"busy.default": "never"}, 422, "busy.default cannot be 'never'"),
    ({"busy.defualt": "queue"}, 422, "There is no setting busy.defualt"),
    ({"platforms.hook.secret": "brief-key"}, 422, "platforms.hook.secret cannot be"),
    ({"platforms.x": {"type": "pigeon"}}, 422, "no platform of the type pigeon"),
    ({"agent.model": "openai:gpt-5.1"}, 422, "providers.openai.api_key is missing"),
    ({"agent.command": ["sh"]}, 403, "on the machine itself"),
    ({"mcp.x": {"command": ["sh"]}}, 403, "on the machine itself"),
    ({"hooks.turn_finished": ["os:system"]}, 403, "on the machine itself"),
    ({"database": "other.db"}, 403, "on the machine itself"),
    ({"providers.openai.api_key": "file:/etc/passwd"}, 403, "can only be named on the machine"),
    ({"mcp.x.url": "file:../../elsewhere"}, 403, "can only be named on the machine"),
    ({"mcp.x": {"url": "https://x/", "headers": {"A": "env:HOOK"}}}, 403, "on the machine itself"),
    ({"platforms.hook.api_url": "https://evil.example/"}, 403, "the secret of the old one"),
    ({"mcp.x.url": "gopher://host/"}, 422, "mcp.x.url cannot be"),
    ({"a\nb": 1}, 422, "not a valid name of a setting"),
    ({"agent.instructions": [None]}, 422, ""),
    ({f"agent.personalities.p{n}": "x" for n in range(300)}, 422, ""),
    ({"agent.instructions": "x" * 2_000_000}, 422, ""),
    ([], 422, ""),
]


async def test_what_is_wrong_changes_nothing(desk: Desk) -> None:
    """It is said what, no secret with it, and what was right beside it does not hold either."""
    for wrong, status, sentence in WRONG:
        answer = await desk.change(wrong, ["edits"])

        assert answer.status_code == status, answer.text
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert sentence in answer.json()["detail"]
        assert "brief-key" not in answer.text
        files = {path.name for path in desk.file.parent.iterdir() if "mine.db" not in path.name}
        assert files <= {"threadline.toml", "secrets"}
        assert desk.file.read_text() == FILE


async def test_set_and_unset_at_once_is_a_mistake(desk: Desk) -> None:
    """Nobody could tell which is meant."""
    answer = await desk.change({"concurrency": 3}, ["concurrency"])

    assert answer.status_code == 422
    assert desk.file.read_text() == FILE


async def test_a_broken_file_is_told_with_its_line(desk: Desk) -> None:
    """It is mended by hand; nothing is written over it."""
    desk.file.write_text("concurrency = = 3\n")

    for answer in (
        await desk.client.get("/api/settings"),
        await desk.change({"concurrency": 3}),
    ):
        assert answer.status_code == 409, answer.text
        assert "line 1" in answer.json()["detail"]
    assert (await desk.client.post("/api/settings/reload")).status_code == 422
    assert desk.file.read_text() == "concurrency = = 3\n"
    assert desk.reloading.gateway.is_ready


async def test_the_file_is_read_again_when_asked(desk: Desk) -> None:
    """After an edit by hand; a platform that cannot be made is told, the rest holds."""
    desk.file.write_text(
        FILE.replace("queue", "steer") + '[platforms.bad]\ntype = "webhook"\nsecret = "brief"\n'
    )

    answer = await desk.client.post("/api/settings/reload")

    assert answer.status_code == 200, answer.text
    assert [one["table"] for one in answer.json()["failures"]] == ["platforms.bad"]
    assert desk.reloading.gateway.store.rules.busy is BusyMode.STEER


async def test_a_member_may_not_look(tmp_path: Path) -> None:
    """Settings are the owner's."""
    async with opened(tmp_path, role=AccountRole.MEMBER) as desk:
        assert (await desk.client.get("/api/settings")).status_code == 403
        assert (await desk.change({"concurrency": 3})).status_code == 403
        assert (await desk.client.post("/api/settings/reload")).status_code == 403
        assert desk.file.read_text() == FILE


@pytest.mark.parametrize("depth", [100, 240, 900, 50_000])
async def test_what_is_nested_too_deep_is_a_mistake(desk: Desk, depth: int) -> None:
    """However deep somebody digs, they get an answer."""
    for left, right in (('{"a":', "}"), ("[", "]")):
        body = f'{{"set": {{"agent.options": {left * depth}1{right * depth}}}}}'
        headers = {"If-Match": "*", "Content-Type": "application/json"}
        answer = await desk.client.patch("/api/settings", content=body, headers=headers)

        assert answer.status_code in {400, 413, 422}, answer.text[:300]
    assert desk.file.read_text() == FILE


async def test_of_two_changes_at_once_one_is_stale(desk: Desk) -> None:
    """Both saw the same file, and only one of them finds it so."""
    _, seen = await desk.read()

    answers = await asyncio.gather(
        *(desk.change({"concurrency": number}, seen=seen) for number in (3, 4, 5))
    )

    (won,) = [number for number, one in zip((3, 4, 5), answers, strict=True) if one.is_success]
    assert sorted(one.status_code for one in answers) == [200, 412, 412]
    assert desk.reloading.config.concurrency == won
