"""A household: a store in which everything that the API tells of is there, and those who ask.

It is furnished once, by a whole gateway; each test moves into a copy of its own.
"""

import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import httpx
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount

from docs.http import describe_api
from tests.web.api_pool import lent_api
from threadline.assembly.reload import Reloader, open_mind
from threadline.config import Config
from threadline.config.config_source import Source
from threadline.core.access import AccessRules
from threadline.core.account import Account, ShareId, TokenScope
from threadline.core.address import Address, Kind, Sender
from threadline.core.approval import Approval, PermissionDuration
from threadline.core.delivery import SendOutcome
from threadline.core.inbound import Inbound
from threadline.core.job import NewJob
from threadline.core.message import MediaKind, Part, Role, Text
from threadline.core.message import say as line
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.core.turn import TurnId
from threadline.gateway.gateway import Gateway
from threadline.gateway.settings import GatewaySettings
from threadline.platforms.simulated import Simulated
from threadline.store import Store
from threadline.store.accounts.accounts import list_accounts
from threadline.testing.clock import FakeClock
from threadline.testing.gateway_scenario import ADMIN, GatewayScenario, unhurried
from threadline.testing.scenario import OpenStore, sqlite_at
from threadline.testing.scripted_agent import Asks, ScriptedAgent
from threadline.web.auth.pages import Pages
from threadline.web.authentication import COOKIE, CSRF_HEADER, TOKEN_PREFIX, csrf_of, hash_secret
from threadline.web.feed.broadcaster import Feed
from threadline.web.rate_limit import Limits
from threadline.web.server import make_app
from threadline.web.share_pages import make_share_route
from threadline.web.spa import SpaFiles
from threadline.web.trusted_hosts import Hosts
from threadline.web.upload_tokens import write_ticket

HERE = "http://localhost:8642"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)
_CODE = re.compile(r"\b[2-9A-HJ-NP-Z]{8}\b")
DATABASE = "threadline.db"


class Caller(StrEnum):
    """Somebody who asks, by what they show."""

    NOBODY = "nobody"
    REVOKED = "revoked"
    """With a token that is worth nothing any more."""
    ENDED = "ended"
    """With the cookie of an account that has ended."""
    OTHER = "other"
    """A member to whom nothing here belongs."""
    MEMBER = "member"
    """The member to whom the conversations belong."""
    OWNER = "owner"
    READER = "reader"
    """With an owner's token that may read."""
    WRITER = "writer"
    ADMIN = "admin"
    MEMBER_READER = "member reader"
    """With a token of the member that may read."""
    MEMBER_WRITER = "member writer"
    """With one that may write, and not read what it wrote."""
    OWNER_WRITER = "owner writer"
    """The same of the owner."""
    OWNER_ADMIN = "owner admin"
    """With one that may administer, and neither read nor write conversations."""


SCOPES = {
    Caller.REVOKED: frozenset(TokenScope),
    Caller.READER: frozenset({TokenScope.READ}),
    Caller.WRITER: frozenset({TokenScope.READ, TokenScope.WRITE}),
    Caller.ADMIN: frozenset(TokenScope),
    Caller.MEMBER_READER: frozenset({TokenScope.READ}),
    Caller.MEMBER_WRITER: frozenset({TokenScope.WRITE}),
    Caller.OWNER_WRITER: frozenset({TokenScope.WRITE}),
    Caller.OWNER_ADMIN: frozenset({TokenScope.ADMIN}),
}
_OF_MEMBER = frozenset({Caller.MEMBER_READER, Caller.MEMBER_WRITER})


@dataclass
class Inventory:
    """What is there, by the names that tests give it, and what each caller shows."""

    things: dict[str, str | int] = field(default_factory=dict)
    headers: dict[Caller, dict[str, str]] = field(default_factory=dict)


class Furnishing:
    """Furnishes a household, through the front doors of the gateway and the store."""

    def __init__(self, house: GatewayScenario) -> None:
        self.house = house
        self.store = house.store
        self.inventory = Inventory(headers={Caller.NOBODY: {}})
        self.things = self.inventory.things

    async def furnish(self) -> Inventory:
        """Let people come, speak and leave things."""
        owner = await self.store.owner_account()
        member, other = [await self.store.make_account(name) for name in ("Mia", "Otto")]
        gone = await self.store.make_account("Gone")
        self.things |= {"owner": owner.key, "member": member.key, "other": other.key}
        await self._hand_out_keys(owner, member, other, gone)
        await self._converse(member)
        await self._ask_leave(member)
        await self._keep(member)
        await self._meet_people()
        await self._lose()
        await self._plan(member)
        return self.inventory

    async def _hand_out_keys(self, owner: Account, member: Account, *others: Account) -> None:
        other, gone = others
        for caller, whose in {
            Caller.OWNER: owner,
            Caller.MEMBER: member,
            Caller.OTHER: other,
            Caller.ENDED: gone,
        }.items():
            secret = f"login-of-{caller}"
            login = await self.store.begin_login(whose.key, hash_secret(secret), "a browser")
            self.things[f"login of {caller}"] = login.key
            self.inventory.headers[caller] = {
                "Cookie": f"{COOKIE}={secret}",
                CSRF_HEADER: csrf_of(secret),
            }
        await self.store.end_account(gone.key)
        for caller, scopes in SCOPES.items():
            secret = f"{TOKEN_PREFIX}of-{caller}"
            whose = member if caller in _OF_MEMBER else owner
            token = await self.store.make_token(whose.key, caller, scopes, hash_secret(secret))
            self.things[f"token of {caller}"] = token.key
            self.inventory.headers[caller] = {"Authorization": f"Bearer {secret}"}
            if caller is Caller.REVOKED:
                await self.store.end_token(token.key, owner.key)

    async def _converse(self, member: Account) -> None:
        picture = await self.store.attachments.put(
            PICTURE, "image/png", MediaKind.IMAGE, "picture.png"
        )
        talk, turn = await self._say(member, "talk", Text(text="remember the number 7"), picture)
        self.things |= {"talk": talk, "turn": turn, "picture": picture.blob}
        for _ in range(3):
            await self._say(member, "talk", Text(text="and then?"))
        undone, _ = await self._say(member, "undone", Text(text="take this back"))
        await self.store.transcripts.undo(undone)
        compacted, _ = await self._say(member, "compacted", Text(text="a long story"))
        await self.store.transcripts.record(
            compacted, [line(Role.USER, "on"), line(Role.ASSISTANT, "so on")]
        )
        await self.store.transcripts.compact(compacted, "A story was told.", keep=1)
        self.things |= {"undone": undone, "compacted": compacted}

    async def _ask_leave(self, member: Account) -> None:
        for name in ("allowed", "asking"):
            self.house.agent.will(Asks("May I run ls?", tools=("shell",)))
            session, turn = await self._say(member, name, Text(text="list the files"))
            self.things |= {name: session, f"turn of {name}": turn}
            if name == "allowed":
                await self.store.approvals.decide(
                    member.asker(), turn, Approval.APPROVED, extent=PermissionDuration.SESSION
                )
                await self.house.rests()
        (asking,) = await self.store.approvals.list_questions(member.asker())
        assert asking.asked_at is not None
        self.things["asked"] = asking.asked_at.isoformat()
        (allowance,) = await self.store.approvals.list_permissions()
        self.things["allowance"] = allowance.key
        self.house.agent.will(Asks("Which one?"))
        waiting, _ = await self._say(member, "waiting", Text(text="a question, please"))
        await self.store.receive(self._words(member, "waiting", Text(text="and one more")))
        (queued,) = await self.store.transcripts.waiting(waiting)
        self.things |= {"waiting": waiting, "queued": queued.key}

    async def _keep(self, member: Account) -> None:
        upload = await self.store.attachments.put(
            b"hello", "text/plain", MediaKind.FILE, "hello.txt"
        )
        ticket = write_ticket(await self.store.seal(), upload, member.key, self.store.now())
        project = await self.store.make_project("Garden")
        talk = SessionId(str(self.things["talk"]))
        share = await self.store.make_share(talk, ShareId("a-shared-page"), "<p>", by=member.actor)
        for caller in (Caller.OWNER, Caller.MEMBER):
            passkey = await self.store.add_passkey(
                (await self._account(caller)).key,
                "phone",
                credential=caller.encode(),
                public_key=b"key",
            )
            self.things[f"passkey of {caller}"] = passkey.key
        self.things |= {"upload": upload.blob, "ticket": ticket, "project": project.key}
        self.things |= {"share": share.id}

    async def _meet_people(self) -> None:
        for name in ("Ada", "Bob", "Eve"):
            await self.house.guest(name).asks("hello")
        one, two = (Identity(platform="telegram", id=id) for id in ("ada", "bob"))
        person = await self.store.join(one, two)
        await self.store.people.allow(Identity(platform="telegram", id="cy"), name="Cy")
        self.things["person"] = person.key
        code = await self.house.guest("Mallory").asks("hello?")
        (self.things["code"],) = _CODE.findall(code)

    async def _lose(self) -> None:
        """Let an answer be lost, on a platform that nobody serves."""
        there = Address(platform="matrix", kind=Kind.DM, chat="zoe")
        said = Inbound.text("hi", address=there, sender=Sender(id="zoe"), at=self.house.clock())
        distant = (await self.store.receive(said)).session_id
        await self.house.rests()
        (parcel,) = await self.store.deliveries.lease(["matrix"])
        await self.store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "gone")
        self.things |= {"distant": str(distant), "lost": parcel.delivery.id}

    async def _plan(self, member: Account) -> None:
        daily = NewJob(prompt="What is new?", schedule="every day 9:00")
        job = await self.store.jobs.create(daily, member.asker(), platforms=frozenset({"telegram"}))
        resting = NewJob(prompt="And then?", schedule="every day 9:00", name="resting")
        paused = await self.store.jobs.create(
            resting, member.asker(), platforms=frozenset({"telegram"})
        )
        await self.store.jobs.pause(paused.id)
        self.things |= {"job": job.id, "paused job": paused.id}

    async def _account(self, caller: Caller) -> Account:
        names = {Caller.OWNER: "owner", Caller.MEMBER: "member"}
        key = self.things[names[caller]]
        return next(one for one in await self.store.database.read(list_accounts) if one.key == key)

    async def _say(self, account: Account, thread: str, *parts: Part) -> tuple[SessionId, TurnId]:
        arrival = await self.store.receive(self._words(account, thread, *parts))
        assert arrival.session_id is not None
        assert arrival.turn_id is not None
        await self.house.rests()
        return arrival.session_id, arrival.turn_id

    def _words(self, account: Account, thread: str, *parts: Part) -> Inbound:
        self.house.clock.advance(timedelta(seconds=1))
        return Inbound(
            address=account.place(thread),
            sender=account.sender,
            parts=parts,
            at=self.house.clock(),
            message_id=f"{thread}-{self.house.clock().timestamp()}",
        )


async def furnish(open_store: OpenStore) -> Inventory:
    """Make a household in a store; tests work with copies of it."""
    access = AccessRules(
        allow=[f"telegram:{id}" for id in ("ada", "bob", "eve")],
        admins=[f"telegram:{ADMIN}"],
        per_minute=0,
    )
    settings = GatewaySettings(access=access, pace=unhurried())
    house = GatewayScenario(open_store, names=("telegram",), settings=settings)
    async with house:
        return await Furnishing(house).furnish()


@dataclass(frozen=True, slots=True, kw_only=True)
class Household:
    """A copy of the household, behind its web server."""

    app: Starlette
    store: Store
    gateway: Gateway
    """Not yet begun, so that nothing happens but what a test does."""
    inventory: Inventory
    client: httpx.AsyncClient
    feed: Feed
    places: dict[str, tuple[str, str]]
    """The method and path of each operation, as the description of the API tells them."""

    def headers(self, caller: Caller) -> dict[str, str]:
        """Answer what somebody shows with each request."""
        return self.inventory.headers[caller]


class Rooms:
    """What a site shows, with an API that is lent."""

    def __init__(self, api: FastAPI, store: Store, config: Config) -> None:
        self._api, self._store, self._server = api, store, config.server

    def routes(self) -> list[BaseRoute]:
        """Answer what is found where."""
        pages = [*SpaFiles().routes(), *Pages(self._store, self._server).routes()]
        return [Mount("/api", app=self._api), *pages, make_share_route(self._store)]

    def middleware(self) -> list[Middleware]:
        """Answer what every request passes."""
        return [Middleware(Hosts, server=self._server), Middleware(Limits)]


@cache
def describe() -> Mapping[str, Any]:
    """Answer the description of the API."""
    return describe_api()


@cache
def read_places() -> dict[str, tuple[str, str]]:
    """Read the method and path of each operation in the description of the API."""
    return {
        operation["operationId"]: (method.upper(), f"/api{path}")
        for path, operations in describe()["paths"].items()
        for method, operation in operations.items()
    }


def count_rows(folder: Path) -> dict[str, int]:
    """Count the rows of each table of a household: the feed does not tell of all that is kept."""
    # By the library that has it open: to a second one in the same process its locks mean nothing.
    with closing(apsw.Connection(str(folder / DATABASE), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        named = db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        ).fetchall()
        names = [str(name) for (name,) in named]
        return {name: db.execute(f'SELECT count(*) FROM "{name}"').get for name in names}


@asynccontextmanager
async def move_in(template: Path, inventory: Inventory, folder: Path) -> AsyncIterator[Household]:
    """Open a copy of a household, with everything that stands before the API."""
    shutil.copytree(template, folder)
    store = await sqlite_at(folder / DATABASE)(clock=FakeClock())
    async with live_in(store, store, inventory, folder) as household:
        yield household


@asynccontextmanager
async def live_in(
    store: Store, asked: Store, inventory: Inventory, folder: Path
) -> AsyncIterator[Household]:
    """Serve a furnished store; `asked` is the one that requests use, in place of the gateway's."""
    source = Source(environ={"HOME": str(folder)}, folder=folder)
    config = source.load()
    mind = await open_mind(config)
    gateway = Gateway(store, ScriptedAgent(), [Simulated("telegram")])
    reloading = Reloader(source, config, gateway, mind)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        stack.push_async_callback(reloading.close)
        api = stack.enter_context(lent_api(gateway, asked, config))
        api.state.reloading = reloading
        app = make_app(gateway, site=Rooms(api, asked, config))
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
        client = httpx.AsyncClient(transport=transport, base_url=HERE, trust_env=False)
        yield Household(
            app=app,
            store=store,
            gateway=gateway,
            inventory=inventory,
            client=await stack.enter_async_context(client),
            feed=api.state.feed,
            places=read_places(),
        )
