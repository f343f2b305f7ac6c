"""WebAuthn: a question that only a device with a passkey can answer, and its answer."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import HTTPConnection

from threadline.config.gateway_section import ServerSettings
from threadline.core.account import Account, LoginWay, Passkey
from threadline.core.errors import Refused
from threadline.store import Store
from threadline.web.auth import passkeys
from threadline.web.auth.passkeys import Challenges
from threadline.web.auth.throttle import LoginAttempt


class WebAuthnExchange:
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

    async def ask_for_new(self, store: Store, account: Account) -> tuple[str, dict[str, Any]]:
        """Ask a device for a new passkey of somebody; answers the question and its options.

        The store is that of the request.
        """
        challenge = self._challenges.ask(account.key, self._store.now(), LoginAttempt())
        known = await store.passkeys(account.key)
        return challenge, passkeys.registration_options(account, known, challenge, self._server)

    async def add(
        self,
        store: Store,
        account: Account,
        name: str,
        challenge: str,
        credential: Mapping[str, Any],
    ) -> Passkey:
        """Add the passkey that a device made, by the store of the request that asks for it."""
        asked, _ = self._challenges.take(challenge, account.key, self._store.now())
        id, public_key, count = passkeys.verify_registration(
            credential, asked, self._origin, self._server
        )
        return await store.add_passkey(
            account.key,
            name,
            credential=id,
            public_key=public_key,
            sign_count=count,
            by=account.actor,
        )

    def ask_for_proof(self, account: Account) -> tuple[str, dict[str, Any]]:
        """Ask the user of an account to show a passkey again."""
        challenge = self._challenges.ask(account.key, self._store.now(), LoginAttempt())
        return challenge, passkeys.login_options(challenge, self._server)

    async def prove(self, account: Account, challenge: str, credential: Mapping[str, Any]) -> None:
        """Refuse an answer that no passkey of this account has signed."""
        asked, _ = self._challenges.take(challenge, account.key, self._store.now())
        await self._verify(asked, credential, account)

    def ask_anybody(self, tried: LoginAttempt) -> tuple[str, dict[str, Any]]:
        """Ask a device for any passkey that it has for us, which counts as a try."""
        challenge = self._challenges.ask(None, self._store.now(), tried)
        return challenge, passkeys.login_options(challenge, self._server)

    async def recognise(
        self, challenge: str, credential: Mapping[str, Any]
    ) -> tuple[Account, LoginAttempt]:
        """Find out who has the device that answered, and which try that was."""
        asked, tried = self._challenges.take(challenge, None, self._store.now())
        return await self._verify(asked, credential), tried

    async def _verify(
        self, asked: bytes, credential: Mapping[str, Any], only: Account | None = None
    ) -> Account:
        """Return whose passkey signed a question; `only` one of this account may have done so."""
        whose = only
        try:
            found = await self._store.find_passkey(passkeys.credential_id(credential))
            if found is None or (only is not None and found.account.key != only.key):
                raise passkeys.unknown_passkey()
            whose = found.account
            count = passkeys.verify_login(credential, asked, found, self._origin, self._server)
            await self._store.use_passkey(found.key, count)
        except Refused:
            await self._store.note_failed_login(LoginWay.PASSKEY, whose.key if whose else None)
            raise
        return found.account
