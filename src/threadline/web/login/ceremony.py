"""The ceremony: a question that only a device with a passkey can answer, and its answer."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import HTTPConnection

from threadline.config.serving import ServerSettings
from threadline.core.account import Account, Passkey
from threadline.sessions.store import Store
from threadline.web.login import passkeys
from threadline.web.login.guessing import Try
from threadline.web.login.passkeys import Challenges


class Ceremony:
    """What is said between us and a device, for one request."""

    def __init__(
        self,
        store: Store,
        challenges: Challenges,
        connection: HTTPConnection,
        server: ServerSettings,
    ) -> None:
        """Refuse where passkeys cannot work."""
        passkeys.require_extra()
        self._store = store
        self._challenges = challenges
        self._server = server
        self._origin = passkeys.origin_for(connection, server)

    async def ask_for_new(self, account: Account) -> tuple[str, dict[str, Any]]:
        """Ask a device for a new passkey of somebody; answers the question and its options."""
        challenge = self._challenges.ask(account.key, self._store.now(), Try())
        known = await self._store.passkeys(account.key)
        return challenge, passkeys.registration_options(account, known, challenge, self._server)

    async def add(
        self, account: Account, name: str, challenge: str, credential: Mapping[str, Any]
    ) -> Passkey:
        """Take the passkey that a device made."""
        asked, _ = self._challenges.take(challenge, account.key, self._store.now())
        id, public_key, count = passkeys.verify_registration(
            credential, asked, self._origin, self._server
        )
        return await self._store.add_passkey(
            account.key,
            name,
            credential=id,
            public_key=public_key,
            sign_count=count,
            by=account.actor,
        )

    def ask_anybody(self, tried: Try) -> tuple[str, dict[str, Any]]:
        """Ask a device for any passkey that it has for us, which counts as a try."""
        challenge = self._challenges.ask(None, self._store.now(), tried)
        return challenge, passkeys.login_options(challenge, self._server)

    async def recognise(self, challenge: str, credential: Mapping[str, Any]) -> tuple[Account, Try]:
        """Find out who has the device that answered, and which try that was."""
        asked, tried = self._challenges.take(challenge, None, self._store.now())
        found = await self._store.find_passkey(passkeys.credential_id(credential))
        if found is None:
            raise passkeys.unknown_passkey()
        count = passkeys.verify_login(credential, asked, found, self._origin, self._server)
        await self._store.use_passkey(found.key, count)
        return found.account, tried
