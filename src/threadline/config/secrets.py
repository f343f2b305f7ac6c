"""Secrets: values that stand in the environment or in a file of their own, and are never shown."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from threadline.core.errors import ConfigError
from threadline.core.secrecy import HIDDEN

_FROM_VARIABLE = "env:"
_FROM_FILE = "file:"
_WORDS = (
    "secret",
    "token",
    "password",
    "passphrase",
    "credential",
    "api_key",
    "private",
    "hmac",
    "header",
    "authorization",
    "cookie",
)
_LEAST_VALUE = 8
"""Characters: a shorter value of a query is a word like others."""


def is_secret_key(name: str) -> bool:
    """Tell by the name of a setting whether what it holds may be shown to nobody."""
    word = name.lower()
    return word == "key" or word.endswith("_key") or any(part in word for part in _WORDS)


def is_secret_way(key: str) -> bool:
    """Tell the same of a dotted name: what stands in a platform's table of secrets is one."""
    names = key.split(".")
    return any(is_secret_key(name) for name in (names[2:] or names[-1:]))


def credentials_in(text: str) -> set[str]:
    """List what a URL holds to prove who calls: a name and password, and the values of a query."""
    url = _url(text)
    if url is None:
        return set()
    login = url.netloc.rpartition("@")[0]
    values = [value for _, value in parse_qsl(url.query) if len(value) >= _LEAST_VALUE]
    return {proof for proof in (login, url.password, url.query, *values) if proof}


def _hide_credentials(text: str) -> str:
    url = _url(text)
    if url is None:
        return text
    login, _, host = url.netloc.rpartition("@")
    place = f"{HIDDEN}@{host}" if login else host
    return urlunsplit(url._replace(netloc=place, query=HIDDEN if url.query else ""))


def _url(text: str) -> SplitResult | None:
    try:
        return urlsplit(text) if "://" in text else None
    except ValueError:
        return None


def is_reference(value: object) -> bool:
    """Tell whether a value says where a secret stands, and is none itself."""
    return isinstance(value, str) and value.startswith((_FROM_VARIABLE, _FROM_FILE))


def shown(key: str, value: object) -> object:
    """Answer a setting's value as anybody may see it."""
    if isinstance(value, list):
        return [shown(key, one) for one in value]
    if isinstance(value, dict):
        return {name: shown(f"{key}.{name}", one) for name, one in value.items()}
    if value is None or is_reference(value):
        return value
    if is_secret_way(key):
        return HIDDEN
    return _hide_credentials(value) if isinstance(value, str) else value


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
