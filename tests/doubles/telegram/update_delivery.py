"""Receiving: how a bot gets its updates, by asking for them or by being called."""

import asyncio
import contextlib
import json
import re
from collections.abc import Callable
from typing import Any

import httpx

from tests.doubles.telegram.calls import Call
from tests.doubles.telegram.refusals import Refusal, Wire, bad
from tests.doubles.telegram.state import World
from threadline.testing.deadline import HANG_SECONDS

MOST = 100
_LONGEST = 50
_PAUSE = 0.05
"""How long it waits before it brings an update again; Telegram takes longer."""
_PORTS = {80, 88, 443, 8443}


class Receiving:
    """Hands out updates, in order, to the one who may have them."""

    def __init__(self, world: World, act: Callable[[Call], object]) -> None:
        """Hand out the updates of a world; `act` does what a hook answers with."""
        self._world = world
        self._act = act
        self._poller: object = None
        """Who asks for updates; there is one at a time, and it is the last who came."""
        self._hook: Wire = {}
        self._task: asyncio.Task[None] | None = None
        self.is_closed = False
        self.methods = ("getUpdates", "setWebhook", "deleteWebhook", "getWebhookInfo")

    async def close(self) -> None:
        """Let everybody go who waits."""
        self.is_closed = True
        self._world.bell.ring()
        await self._stop_calling()

    async def answer(self, call: Call) -> bytes:
        """Answer one of the methods by which updates are received."""
        match call.method:
            case "getUpdates":
                return await self._hand_out(call)
            case "setWebhook":
                result: object = await self._set_hook(call)
            case "deleteWebhook":
                result = await self._delete_hook(call)
            case _:
                result = self._tell_hook()
        return json.dumps({"ok": True, "result": result}).encode()

    async def _hand_out(self, call: Call) -> bytes:
        """Confirm what stands before the offset; give what comes after it, as soon as it does."""
        if self._hook:
            raise Refusal(
                409,
                "can't use getUpdates method while webhook is active; use deleteWebhook to "
                "delete the webhook first",
            )
        updates, me = self._world.updates, object()
        self._poller = me
        self._world.bell.ring()
        updates.allow(_kinds(call))
        updates.confirm(call.number("offset"))
        await self._world.bell.until(
            lambda: updates.waiting or updates.garbage or self._poller is not me or self.is_closed,
            min(max(call.number("timeout"), 0), _LONGEST),
        )
        if self._poller is not me:
            raise self._ousted()
        self._poller = None
        if updates.garbage:
            return updates.garbage.pop(0)
        limit = call.number("limit", MOST)
        given = [one.wire for one in updates.waiting[: min(limit, MOST) if limit > 0 else MOST]]
        return json.dumps({"ok": True, "result": given}).encode()

    def _ousted(self) -> Refusal:
        if self._hook:
            return Refusal(409, "terminated by setWebhook request")
        return Refusal(
            409,
            "terminated by other getUpdates request; make sure that only one bot instance is "
            "running",
        )

    async def _set_hook(self, call: Call) -> bool:
        """Call the bot from now on; an empty address is the end of that."""
        url = call.text("url")
        if not url:
            return await self._delete_hook(call)
        checked_hook(url, call.text("secret_token"))
        self._world.updates.allow(_kinds(call))
        if call.flag("drop_pending_updates"):
            self._world.updates.forget()
        await self._stop_calling()
        self._hook = {
            "url": url,
            "secret": call.text("secret_token"),
            "max_connections": call.number("max_connections", 40),
        }
        self._poller = object()
        self._world.bell.ring()
        self._task = asyncio.create_task(self._call_bot(), name="telegram webhook")
        return True

    async def _delete_hook(self, call: Call) -> bool:
        await self._stop_calling()
        self._hook = {}
        if call.flag("drop_pending_updates"):
            self._world.updates.forget()
        return True

    def _tell_hook(self) -> Wire:
        told: Wire = {
            "url": self._hook.get("url", ""),
            "has_custom_certificate": False,
            "pending_update_count": len(self._world.updates.waiting),
        }
        if self._world.updates.allowed is not None:
            told["allowed_updates"] = sorted(self._world.updates.allowed)
        shown = ("max_connections", "last_error_date", "last_error_message")
        return told | {name: self._hook[name] for name in shown if name in self._hook}

    async def _call_bot(self) -> None:
        """Bring each update in order, and again until the bot takes it."""
        updates = self._world.updates
        async with httpx.AsyncClient(timeout=HANG_SECONDS, trust_env=False) as client:
            while True:
                await self._world.bell.until(lambda: updates.garbage or updates.waiting, 3600)
                if updates.garbage:
                    await self._bring(client, updates.garbage.pop(0))
                elif updates.waiting:
                    first = updates.waiting[0]
                    if await self._bring(client, json.dumps(first.wire).encode()):
                        updates.confirm(first.id + 1)
                    else:
                        await asyncio.sleep(_PAUSE)

    async def _bring(self, client: httpx.AsyncClient, body: bytes) -> bool:
        headers = {"content-type": "application/json"}
        if self._hook["secret"]:
            headers["x-telegram-bot-api-secret-token"] = self._hook["secret"]
        try:
            answer = await client.post(self._hook["url"], content=body, headers=headers)
        except httpx.HTTPError as error:
            return self._note(f"Connection failed: {type(error).__name__}")
        if not answer.is_success:
            wrong = f"{answer.status_code} {answer.reason_phrase}"
            return self._note(f"Wrong response from the webhook: {wrong}")
        self._act_on(answer)
        return True

    def _note(self, trouble: str) -> bool:
        self._hook |= {"last_error_date": self._world.stamp(), "last_error_message": trouble}
        self._world.bell.ring()
        return False

    def _act_on(self, answer: httpx.Response) -> None:
        """Do what the bot asks for in its answer; nobody is told what came of it."""
        with contextlib.suppress(ValueError, Refusal, KeyError):
            told: Any = answer.json()
            if isinstance(told, dict) and isinstance(method := told.pop("method", None), str):
                self._act(Call(method=method, parameters=told, at=self._world.now()))

    async def _stop_calling(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None


def checked_hook(url: str, secret: str) -> None:
    """Refuse an address or a secret that no hook can have; plain HTTP is for this machine only."""
    parts = httpx.URL(url)
    is_here = parts.scheme == "http" and parts.host in {"127.0.0.1", "localhost", "::1"}
    if parts.scheme != "https" and not is_here:
        raise bad("bad webhook: An HTTPS URL must be provided for webhook")
    if not is_here and (parts.port or 443) not in _PORTS:
        raise bad("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
    if len(secret) > 256:
        raise bad("secret token is too long")
    if not re.fullmatch(r"[A-Za-z0-9_-]*", secret):
        raise bad("secret token contains unallowed characters")


def _kinds(call: Call) -> list[str] | None:
    given = call.structure("allowed_updates")
    if given is None:
        return None
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise bad("can't parse allowed_updates: expected an Array of String")
    return given
