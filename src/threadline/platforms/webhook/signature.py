"""Signatures: whoever knows the secret said exactly this, just now."""

import hmac
from collections.abc import Sequence
from datetime import datetime, timedelta

from threadline.core.errors import Refused

TIMESTAMP = "X-Threadline-Timestamp"
"""The header with the time of signing, in seconds since 1970."""
SIGNATURE = "X-Threadline-Signature"
"""The header with `sha256=` and the HMAC of the time, a dot and what is signed."""
SKEW = timedelta(seconds=300)
"""How far the clocks of both sides may be apart."""

_TIMESTAMP_DIGITS = 12


def sign(secret: str, body: bytes, at: datetime) -> dict[str, str]:
    """Make the two headers that prove that we know the secret."""
    timestamp = str(int(at.timestamp()))
    return {TIMESTAMP: timestamp, SIGNATURE: f"sha256={mac_of(secret, timestamp, body)}"}


def mac_of(secret: str, timestamp: str, body: bytes) -> str:
    """Compute the code that only somebody with the secret can compute."""
    return hmac.digest(secret.encode(), f"{timestamp}.".encode() + body, "sha256").hex()


def check(
    secrets: Sequence[str],
    *,
    timestamp: str | None,
    signature: str | None,
    body: bytes,
    now: datetime,
) -> None:
    """Refuse what was not signed with one of the secrets, or not just now."""
    if not timestamp or not signature:
        raise Refused("The request is not signed", hint=f"Send {TIMESTAMP} and {SIGNATURE}")
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _TIMESTAMP_DIGITS
    if not is_number or abs(int(timestamp) - now.timestamp()) > SKEW.total_seconds():
        raise Refused(
            "The request was not signed just now",
            hint=f"{TIMESTAMP} is the time in seconds since 1970, at most 300 seconds from ours",
        )
    given = signature.removeprefix("sha256=").encode("utf-8", "replace")
    # All are compared, so that the time it takes tells nothing about which one it was.
    fits = [
        hmac.compare_digest(given, mac_of(secret, timestamp, body).encode()) for secret in secrets
    ]
    if not any(fits) or not signature.startswith("sha256="):
        raise Refused("The signature does not fit", hint="Is the secret the same on both sides?")
