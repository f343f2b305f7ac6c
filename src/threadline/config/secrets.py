"""Secrets: values that stand in the environment or in a file of their own, and are never shown."""

import os
from collections.abc import Mapping
from pathlib import Path

from threadline.core.errors import ConfigError
from threadline.core.secrecy import HIDDEN

_FROM_VARIABLE = "env:"
_FROM_FILE = "file:"
_WORDS = ("secret", "token", "password", "passphrase", "credential", "api_key", "private", "hmac")


def is_secret_key(name: str) -> bool:
    """Tell by the name of a setting whether what it holds may be shown to nobody."""
    word = name.lower()
    return word == "key" or word.endswith("_key") or any(part in word for part in _WORDS)


def is_reference(value: object) -> bool:
    """Tell whether a value says where a secret stands, and is none itself."""
    return isinstance(value, str) and value.startswith((_FROM_VARIABLE, _FROM_FILE))


def shown(key: str, value: object) -> object:
    """Answer a setting's value as anybody may see it."""
    if isinstance(value, list):
        return [shown(key, one) for one in value]
    if isinstance(value, dict):
        return {name: shown(f"{key}.{name}", one) for name, one in value.items()}
    name = key.rpartition(".")[2]
    if value is None or is_reference(value) or not is_secret_key(name):
        return value
    return HIDDEN


def resolve(
    key: str, value: object, *, folder: Path, environ: Mapping[str, str] = os.environ
) -> object:
    """Fetch what `env:NAME` or `file:/path` stands for; every other value is what it is."""
    if isinstance(value, list):
        return [resolve(key, one, folder=folder, environ=environ) for one in value]
    if isinstance(value, dict):
        return {
            name: resolve(f"{key}.{name}", one, folder=folder, environ=environ)
            for name, one in value.items()
        }
    if not isinstance(value, str) or not is_reference(value):
        return value
    if value.startswith(_FROM_VARIABLE):
        return _from_variable(key, value.removeprefix(_FROM_VARIABLE), environ)
    return _from_file(key, folder / Path(value.removeprefix(_FROM_FILE)).expanduser())


def _from_variable(key: str, name: str, environ: Mapping[str, str]) -> str:
    if text := environ.get(name, ""):
        return text
    hint = f"Set the variable {name}, or take env:{name} out of {key}"
    raise ConfigError(f"{key} stands in a variable that is not set", id=f"env:{name}", hint=hint)


def _from_file(key: str, path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        wish = "It must be a file that this user can read"
        sentence = f"{key} stands in a file that cannot be read: {why}"
        raise ConfigError(sentence, id=f"file:{path}", hint=wish) from None
    if not text:
        hint = "It must hold the secret, and nothing else"
        raise ConfigError(f"{key} stands in a file that is empty", id=f"file:{path}", hint=hint)
    return text
