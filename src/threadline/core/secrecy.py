"""Secrecy: taking known secrets out of a text before it is kept or written."""

from collections.abc import Collection

HIDDEN = "••••••"
"""Stands for a secret wherever something is shown."""

_SHORTEST = 4
"""What is shorter than this stands in half of all words, and is no secret."""


def hush(text: str, secrets: Collection[str]) -> str:
    """Hide secrets in a text; the longest first, lest a part of one leaves the rest of another."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    return text
