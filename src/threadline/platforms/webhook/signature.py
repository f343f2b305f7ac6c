"""Signatures: whoever knows the secret said exactly this, just now."""

import binascii
import hmac
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from threadline.core.errors import Refused

TIMESTAMP = "X-Threadline-Timestamp"
"""The header with the time of signing, in seconds since 1970."""
SIGNATURE = "X-Threadline-Signature"
"""The header with `sha256=` and the HMAC of the time, a dot and what is signed."""
STANDARD_ID = "webhook-id"
"""The id of a message, by the Standard Webhooks specification; it is signed too."""
STANDARD_TIMESTAMP = "webhook-timestamp"
STANDARD_SIGNATURE = "webhook-signature"
"""One or more signatures `v1,<base64>`, with blanks between them."""
STANDARD_PREFIX = "whsec_"
"""How a secret begins that is written in base64."""
SKEW = timedelta(seconds=300)
"""How far the clocks of both sides may be apart."""

_TIMESTAMP_DIGITS = 12
_HEX = re.compile(r"sha256=[0-9a-f]{64}")
_SIGNATURES_MOST = 10
_ID_LIMIT = 255


class SignatureHeaders(Struct, frozen=True, kw_only=True):
    """What the headers of a request say about its signature, before the body has been read."""

    timestamp: str
    signatures: tuple[bytes, ...]
    """The codes, of which one has to be right."""
    id: str | None = None
    """The id of the message; None: it was signed in our own way, and the body has the id."""

    def check(self, secrets: Sequence[str], body: bytes) -> None:
        """Raise `Refused` unless the body was signed with one of the secrets."""
        # All are compared, so that the time it takes tells nothing about which one it was.
        fits = [
            hmac.compare_digest(given, self._mac(secret, body))
            for secret in secrets
            for given in self.signatures
        ]
        if not any(fits):
            raise Refused(
                "The signature does not fit", hint="Is the secret the same on both sides?"
            )

    def _mac(self, secret: str, body: bytes) -> bytes:
        if self.id is None:
            return bytes.fromhex(mac_of(secret, self.timestamp, body))
        said = f"{self.id}.{self.timestamp}.".encode() + body
        return hmac.digest(standard_key(secret), said, "sha256")


def sign(secret: str, body: bytes, at: datetime) -> dict[str, str]:
    """Make the two headers that prove that we know the secret."""
    timestamp = str(int(at.timestamp()))
    return {TIMESTAMP: timestamp, SIGNATURE: f"sha256={mac_of(secret, timestamp, body)}"}


def mac_of(secret: str, timestamp: str, body: bytes) -> str:
    """Compute the code that only somebody with the secret can compute."""
    return hmac.digest(secret.encode(), f"{timestamp}.".encode() + body, "sha256").hex()


def standard_key(secret: str) -> bytes:
    """Return the key that a secret stands for in Standard Webhooks.

    The specification writes it in base64 after `whsec_`. Any other secret is its own bytes.
    """
    written = secret.removeprefix(STANDARD_PREFIX)
    if written == secret:
        return secret.encode()
    try:
        return b64decode(written, validate=True)
    except binascii.Error:
        return secret.encode()


def read_claim(headers: Mapping[str, str], now: datetime) -> SignatureHeaders:
    """Read the headers that sign a request. Raise `Refused` for what no body can make right."""
    id, timestamp = headers.get(STANDARD_ID), headers.get(STANDARD_TIMESTAMP)
    standard, signature = headers.get(STANDARD_SIGNATURE), headers.get(SIGNATURE)
    if signature is None and id and timestamp and standard:
        _require_now(timestamp, STANDARD_TIMESTAMP, now)
        return SignatureHeaders(
            timestamp=timestamp, signatures=_standard(standard), id=_checked_id(id)
        )
    timestamp = headers.get(TIMESTAMP)
    if not timestamp or not signature:
        hint = f"Send {TIMESTAMP} and {SIGNATURE}, or {STANDARD_ID} and those beside it"
        raise Refused("The request is not signed", hint=hint)
    _require_now(timestamp, TIMESTAMP, now)
    if not _HEX.fullmatch(signature):
        raise Refused(
            "The signature cannot be read", hint=f"{SIGNATURE} is sha256= and 64 digits of 0-9, a-f"
        )
    return SignatureHeaders(timestamp=timestamp, signatures=(bytes.fromhex(signature[7:]),))


def _require_now(timestamp: str, name: str, now: datetime) -> None:
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _TIMESTAMP_DIGITS
    if not is_number or abs(int(timestamp) - now.timestamp()) > SKEW.total_seconds():
        raise Refused(
            "The request was not signed just now",
            hint=f"{name} is the time in seconds since 1970, at most 300 seconds from ours",
        )


def _checked_id(id: str) -> str:
    if not id.isascii() or not id.isprintable() or len(id) > _ID_LIMIT:
        raise Refused(f"{STANDARD_ID} cannot be read", hint=f"Use at most {_ID_LIMIT} characters")
    return id


def _standard(written: str) -> tuple[bytes, ...]:
    """Return the codes of all signatures whose version is known."""
    found = []
    for one in written.split(" ")[:_SIGNATURES_MOST]:
        version, _, code = one.partition(",")
        try:
            decoded = b64decode(code, validate=True) if version == "v1" else b""
        except (binascii.Error, ValueError):
            continue
        if len(decoded) == 32:
            found.append(decoded)
    if not found:
        raise Refused(
            "The signature cannot be read", hint=f"{STANDARD_SIGNATURE} is `v1,` and base64"
        )
    return tuple(found)
