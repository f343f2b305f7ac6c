"""Secrets: values that stand in the environment or in a file of their own, and are never shown."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from threadline.core.errors import ConfigError
from threadline.core.redaction import HIDDEN

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
_COUNTS = re.compile(r"(context|max|min|input|output|budget|thinking)(_\w+)?_tokens")
"""Settings that count what a model reads and writes, and only sound like a secret."""
_HOLDERS = frozenset({"api_key", "base_url", "command", "environment", "headers", "options", "url"})
"""Settings of agents, providers and servers in which a secret, or where it stands, may be."""
_SCHEME = re.compile(r"(?:basic|bearer|bot|token) +(\S+)", re.IGNORECASE)
_TOKEN = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[\w~+=-]{20,}", re.ASCII)
"""A word that nobody wrote by hand: such stand in paths of hosted servers, and behind options."""
_LEAST_VALUE = 8
"""Characters: a shorter value of a query is a word like others."""


def is_secret_key(name: str) -> bool:
    """Tell by the name of a setting whether what it holds may be shown to nobody."""
    word = name.lower().replace("-", "_")
    if _COUNTS.fullmatch(word):
        return False
    return word == "key" or word.endswith("_key") or any(part in word for part in _WORDS)


def is_secret_way(key: str) -> bool:
    """Tell the same of a dotted name: what stands in a platform's table of secrets is one."""
    names = key.split(".")
    return any(is_secret_key(name) for name in (names[2:] or names[-1:]))


def may_hold_secret(key: str) -> bool:
    """Tell whether a setting of an agent, a provider or a server may hold a secret."""
    return not _HOLDERS.isdisjoint(key.split("."))


def credentials_in(text: str) -> set[str]:
    """List what a text holds to prove who calls.

    Of a URL a name and password, the values of a query, and what looks like a token in its path;
    of a header what follows its scheme.
    """
    if scheme := _SCHEME.fullmatch(text):
        return {scheme[1]}
    url = _url(text)
    if url is None:
        return set()
    login = url.netloc.rpartition("@")[0]
    values = [value for _, value in parse_qsl(url.query) if len(value) >= _LEAST_VALUE]
    tokens = [word for word in url.path.split("/") if _TOKEN.fullmatch(word)]
    return {proof for proof in (login, url.password, url.query, *values, *tokens) if proof}


def _hide_credentials(text: str) -> str:
    url = _url(text)
    if url is None:
        return text
    login, _, host = url.netloc.rpartition("@")
    place = f"{HIDDEN}@{host}" if login else host
    path = "/".join(_hide_token(word) for word in url.path.split("/"))
    return urlunsplit(url._replace(netloc=place, path=path, query=HIDDEN if url.query else ""))


def _hide_token(word: str) -> str:
    return HIDDEN if _TOKEN.fullmatch(word) else word


def _hide_arguments(words: list[object]) -> list[object]:
    """Hide what follows an option of a command that is called like a secret, or looks like one."""
    seen: list[object] = []
    is_next = False
    for word in words:
        name, equals, value = str(word).partition("=")
        is_secret = name.startswith("-") and is_secret_key(name.lstrip("-"))
        if is_next and not is_reference(word):
            seen.append(HIDDEN)
        elif is_secret and equals and not is_reference(value):
            seen.append(f"{name}={HIDDEN}")
        else:
            seen.append("=".join(_hide_token(one) for one in str(word).split("=")))
        is_next = is_secret and not equals
    return seen


def _url(text: str) -> SplitResult | None:
    try:
        return urlsplit(text) if "://" in text else None
    except ValueError:
        return None


def is_reference(value: object) -> bool:
    """Tell whether a value says where a secret stands, and is none itself."""
    return isinstance(value, str) and value.startswith((_FROM_VARIABLE, _FROM_FILE))


def show_setting(key: str, value: object) -> object:
    """Answer a setting's value as anybody may see it."""
    if isinstance(value, list):
        seen = [show_setting(key, one) for one in value]
        return _hide_arguments(seen) if key.endswith(".command") else seen
    if isinstance(value, dict):
        return {name: show_setting(f"{key}.{name}", one) for name, one in value.items()}
    if value is None or is_reference(value):
        return value
    if is_secret_way(key):
        return HIDDEN
    return _hide_credentials(value) if isinstance(value, str) else value


def resolve_reference(
    key: str, value: object, *, folder: Path, environ: Mapping[str, str] = os.environ
) -> object:
    """Fetch what `env:NAME` or `file:/path` stands for; every other value is what it is."""
    if isinstance(value, list):
        return [resolve_reference(key, one, folder=folder, environ=environ) for one in value]
    if isinstance(value, dict):
        return {
            name: resolve_reference(f"{key}.{name}", one, folder=folder, environ=environ)
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
