"""Redaction: what is taken out of a text before somebody else may read it.

It finds what has a form: addresses, numbers and keys. What somebody says in plain words stays.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial

NAME_LENGTH = 3
"""Characters; a shorter name or id is no longer looked for in texts: it would be found in words."""

_Found = re.Match[str]

_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----.*?(?:-----END \1-----|\Z)", re.DOTALL)
_JWT = re.compile(r"\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*")
_BEARER = re.compile(r"\b(Bearer|Basic)\s+[\w.~+/=-]{8,}", re.IGNORECASE)
_URL_CREDENTIALS = re.compile(r"(?<=://)[^\s/@:]{1,256}(?::[^\s/@]{0,256})?@")
_URL_SECRET = re.compile(
    r"(?<=[?&#])((?:\w{0,30}[_-])?(?:token|key|secret|password|sig|signature|code|auth))=[^\s&#]+",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"""\b(?:
        sk-[\w-]{16,} | (?:sk|pk|rk)_(?:live|test)_\w{10,}
      | gh[opusr]_\w{20,} | github_pat_\w{20,} | glpat-[\w-]{16,}
      | xox[abeoprs]-[\w-]{10,} | xapp-[\w-]{10,}
      | (?:AKIA|ASIA)[0-9A-Z]{16} | AIza[\w-]{30,} | ya29\.[\w-]{20,}
      | hf_\w{20,} | npm_\w{30,} | pypi-[\w-]{20,} | SG\.[\w-]{16,}\.[\w-]{16,}
      | \d{8,10}:AA[\w-]{30,}
    )""",
    re.VERBOSE,
)
_ASSIGNED = re.compile(
    r"""(?P<name>\b(?:\w{0,30}[_-])?(?:api[_-]?key|secret|token|passwd|password|passphrase)\b
        ["']?\s{0,3}(?:=|:|\bis\b)\s{0,3}["']?)(?!\[)[^\s"',;]{6,}""",
    re.IGNORECASE | re.VERBOSE,
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b")
_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])")
_PHONE = re.compile(
    r"""(?<![\w.+/:-])(?:
        (?:\+|00)\d(?:[ ./()-]{0,2}\d){6,14}
      | \(?0\d{1,5}\)?[ ./-]{0,2}\d(?:[ ./-]?\d){4,10}
      | (?:\(\d{3}\)\ ?|\d{3}[ .-])\d{3}[ .-]\d{4}
    )(?![\w-])""",
    re.VERBOSE,
)


def redact_text(text: str) -> str:
    """Take out of a text what identifies somebody or opens something."""
    text = _PEM.sub("[key]", text)
    text = _URL_CREDENTIALS.sub("[credentials]@", text)
    text = _URL_SECRET.sub(r"\1=[secret]", text)
    text = _JWT.sub("[token]", text)
    text = _BEARER.sub(r"\1 [token]", text)
    text = _KEY.sub("[key]", text)
    text = _ASSIGNED.sub(r"\g<name>[secret]", text)
    text = _EMAIL.sub("[email]", text)
    text = _IBAN.sub(partial(_if, _is_iban, "[iban]"), text)
    text = _CARD.sub(partial(_if, _is_card, "[card]"), text)
    return _PHONE.sub("[phone]", text)


def _if(is_one: Callable[[str], bool], placeholder: str, found: _Found) -> str:
    return placeholder if is_one(found.group()) else found.group()


def _is_card(text: str) -> bool:
    """Tell by the check digit (Luhn) whether a number may be that of a card."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    """Tell by the check digits (modulo 97) whether this is an account."""
    compact = text.replace(" ", "")
    turned = compact[4:] + compact[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


class Redactor:
    """Redacts one export: the same person, chat or thread has the same placeholder all through."""

    def __init__(self) -> None:
        """Know nobody yet."""
        self._numbers: dict[str, dict[tuple[str, ...], str]] = {}
        self._spoken: dict[str, str] = {}
        self._names: re.Pattern[str] | None = None

    def stand_in(self, kind: str, *key: str) -> str:
        """Answer what stands for a person, a chat or a thread: `person-1`."""
        known = self._numbers.setdefault(kind, {})
        return known.setdefault(key, f"{kind}-{len(known) + 1}")

    def learn(self, people: Iterable[tuple[str, Iterable[str]]]) -> None:
        """Look from now on, in texts, for the names and ids of these people and no others."""
        self._spoken = {
            word.casefold(): placeholder
            for placeholder, words in people
            for word in words
            if len(word) >= NAME_LENGTH
        }
        longest_first = sorted(self._spoken, key=len, reverse=True)
        any_name = "|".join(re.escape(word) for word in longest_first)
        self._names = (
            re.compile(rf"(?<!\w)(?:{any_name})(?!\w)", re.IGNORECASE) if any_name else None
        )

    def text(self, text: str) -> str:
        """Redact a text, the names of the people in it included."""
        plain = redact_text(text)
        return plain if self._names is None else self._names.sub(self._name, plain)

    def _name(self, found: _Found) -> str:
        return self._spoken.get(found.group().casefold(), "[name]")
