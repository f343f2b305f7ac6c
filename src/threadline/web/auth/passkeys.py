"""Passkeys: keys on people's devices that sign what we ask, so that no secret is sent."""

import json
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import Any, cast
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from threadline.config.gateway_section import ServerSettings
from threadline.core.account import Account, AccountKey, Passkey
from threadline.core.errors import Conflict, Invalid, Refused
from threadline.web.auth.throttle import LoginAttempt
from threadline.web.authentication import new_secret

CHALLENGE_LASTS = timedelta(minutes=5)
CHALLENGES_MOST = 1000
"""Questions that wait for an answer at once; of more, the oldest are given up."""

CREDENTIAL_BYTES = 1023
"""As long as the id of a passkey may be."""


class Challenges:
    """Questions that were asked of a device; each is answered once, by whom it was asked of."""

    def __init__(self) -> None:
        """Begin with none."""
        self._open: OrderedDict[str, tuple[AccountKey | None, datetime, LoginAttempt]] = (
            OrderedDict()
        )

    def ask(self, account: AccountKey | None, now: datetime, tried: LoginAttempt) -> str:
        """Make a question; without an account it is for whoever can answer it."""
        challenge = new_secret()
        self._open[challenge] = (account, now + CHALLENGE_LASTS, tried)
        while len(self._open) > CHALLENGES_MOST:
            self._open.popitem(last=False)
        return challenge

    def take(
        self, challenge: str, account: AccountKey | None, now: datetime
    ) -> tuple[bytes, LoginAttempt]:
        """Take an open question back, to compare the answer with it; and the try that it was."""
        asked, until, tried = self._open.pop(challenge, (None, now, LoginAttempt()))
        if until <= now or asked != account:
            raise Refused("This request has expired", hint="Start again")
        return challenge.encode(), tried


def registration_options(
    account: Account, known: list[Passkey], challenge: str, server: ServerSettings
) -> dict[str, Any]:
    """Say what a browser needs to make a passkey for somebody."""
    require_extra()
    from webauthn import generate_registration_options, options_to_json
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    options = generate_registration_options(
        rp_id=server.public_host,
        rp_name="Threadline",
        user_name=account.name,
        user_id=f"account-{account.key}".encode(),
        challenge=challenge.encode(),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=one.credential) for one in known],
    )
    return cast("dict[str, Any]", json.loads(options_to_json(options)))


def login_options(challenge: str, server: ServerSettings) -> dict[str, Any]:
    """Say what a browser needs to sign with a passkey."""
    require_extra()
    from webauthn import generate_authentication_options, options_to_json
    from webauthn.helpers.structs import UserVerificationRequirement

    options = generate_authentication_options(
        rp_id=server.public_host,
        challenge=challenge.encode(),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return cast("dict[str, Any]", json.loads(options_to_json(options)))


def verify_registration(
    credential: Mapping[str, Any], challenge: bytes, origin: str, server: ServerSettings
) -> tuple[bytes, bytes, int]:
    """Check a new passkey; answer its id, its public key and how often it has signed."""
    require_extra()
    from webauthn import verify_registration_response
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        made = verify_registration_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=server.public_host,
            expected_origin=origin,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, TypeError, KeyError) as error:
        raise Invalid("This passkey cannot be read", hint="Start again") from error
    return made.credential_id, made.credential_public_key, made.sign_count


def verify_login(
    credential: Mapping[str, Any],
    challenge: bytes,
    passkey: Passkey,
    origin: str,
    server: ServerSettings,
) -> int:
    """Check that a passkey signed our question; answer how often it has signed."""
    require_extra()
    from webauthn import verify_authentication_response
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        signed = verify_authentication_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=server.public_host,
            expected_origin=origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, TypeError, KeyError) as error:
        raise unknown_passkey() from error
    return signed.new_sign_count


def credential_id(credential: Mapping[str, Any]) -> bytes:
    """Read which passkey a browser answers with."""
    require_extra()
    from webauthn import base64url_to_bytes

    try:
        found = base64url_to_bytes(str(credential["id"]))
    except (KeyError, ValueError) as error:
        raise unknown_passkey() from error
    if not 1 <= len(found) <= CREDENTIAL_BYTES:
        raise unknown_passkey()
    return found


def origin_for(connection: HTTPConnection, server: ServerSettings) -> str:
    """Answer which pages may ask a passkey: those of the address that the settings name."""
    if server.url is not None:
        return server.url
    host = connection.headers.get("host", "")
    if urlsplit(f"//{host}").hostname != server.public_host:
        raise Conflict(
            "Passkeys do not work at this address",
            hint=f"Use http://{server.public_host}, or name the address in server.url",
        )
    return f"http://{host}"


def require_extra(package: str = "webauthn") -> None:
    """Refuse to go on without the package that knows passkeys."""
    if find_spec(package) is None:
        raise Conflict(
            "Passkeys need a package that is not installed",
            hint="Install it: pip install 'threadline[passkeys]'",
        )


def unknown_passkey() -> Refused:
    """Make the error of a passkey that is wrong, or is none of ours; it does not say which."""
    return Refused("This passkey is unknown here")
