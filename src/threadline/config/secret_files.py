"""Secret files: secrets that were given over a screen, each in a file that only its owner reads."""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from secrets import token_hex

from threadline.config.secrets import is_reference, may_hold_secret
from threadline.config.sources import leaves
from threadline.core.errors import ConfigError, Invalid
from threadline.core.redaction import HIDDEN

SECRETS = "secrets"
"""The folder beside the file of settings."""
_OURS = re.compile(r"[A-Za-z0-9_.-]+\.[0-9a-f]{16}")
_LONGEST = 100_000
"""Characters that a secret may have."""


class SecretFiles:
    """Keeps secrets beside a file of settings, which then only says where they stand.

    Each value gets a file of its own: one that is changed leaves the old one until it is written.
    """

    def __init__(self, folder: Path) -> None:
        """Keep secrets in a folder below this one."""
        self._folder = folder / SECRETS
        self._kept: list[Path] = []

    def stow(self, changes: Mapping[str, object], hidden: Collection[str]) -> dict[str, object]:
        """Keep the secrets among changes, and answer the changes without them.

        `hidden` names the settings whose values may be shown to nobody.
        """
        return {key: self._without_secret(key, value, hidden) for key, value in changes.items()}

    def drop(self) -> None:
        """Take back what was kept, as nothing came of it."""
        for file in self._kept:
            file.unlink(missing_ok=True)
        self._kept.clear()

    def tidy(self, text: str) -> None:
        """Delete the secrets of ours of which the file of settings says nothing any more."""
        self._kept.clear()
        if self._folder.is_dir():
            for file in self._folder.iterdir():
                if _OURS.fullmatch(file.name) and _reference(file) not in text:
                    file.unlink(missing_ok=True)

    def _without_secret(self, key: str, value: object, hidden: Collection[str]) -> object:
        if isinstance(value, dict):
            return {
                name: self._without_secret(f"{key}.{name}", one, hidden)
                for name, one in value.items()
            }
        is_secret = key in hidden and isinstance(value, str) and value and not is_reference(value)
        return self._keep(key, str(value)) if is_secret else value

    def _keep(self, key: str, secret: str) -> str:
        if len(secret) > _LONGEST or secret != secret.rstrip("\r\n"):
            hint = "It must be one secret, without an end of line behind it"
            raise Invalid(f"{key} cannot be kept", hint=hint)
        name = re.sub(r"[^A-Za-z0-9_.-]", "-", key)[:100]
        file = self._folder / f"{name}.{token_hex(8)}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._kept.append(file)
            with os.fdopen(opened, "w", encoding="utf-8", newline="") as out:
                out.write(secret)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise ConfigError(f"A secret cannot be kept: {why}", id=str(self._folder)) from None
        return _reference(file)


def hidden_among(changes: Mapping[str, object], shown: Mapping[str, object]) -> list[str]:
    """List the changed settings that are secrets and can stand in a file of their own.

    `shown` is how all settings look to anybody. What can only hide a part of itself is refused.
    """
    found = []
    for key, value in leaves(dict(changes)):
        if value is None or key not in shown:
            continue
        seen = shown[key]
        if seen == HIDDEN:
            if key.startswith("platforms.") or may_hold_secret(key):
                found.append(key)
        elif HIDDEN in str(seen) and seen != value:
            hint = "Write it into the file by hand, or name it by a variable: env:NAME"
            raise Invalid(f"{key} has a secret in it", hint=hint)
    return found


def _reference(file: Path) -> str:
    return f"file:{SECRETS}/{file.name}"
