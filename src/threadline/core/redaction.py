"""Redaction: what is taken out of a text before somebody else may read it.

It finds what has a form: addresses, numbers and keys. What somebody says in plain words stays.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from unicodedata import normalize
from urllib.parse import quote, unquote

NAME_LENGTH = 3
"""Characters; a shorter name or id is no longer looked for in texts: it would be found in words."""
PIECE = 64 * 1024
"""Characters of a text that are looked at in one go, so that nobody else waits for long."""

_Found = re.Match[str]

# Tools are told in JSON, and addresses are escaped: behind an escape, which may end with a letter,
# something else begins. No text of ours has a NUL, so it can stand there meanwhile.
_ESCAPE = re.compile(r"\\[nrt]|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}")
_NUL = "\0"

# Every pattern takes time in proportion to the length of the text, whatever stands in it: a repeat
# has an upper bound, unless nothing behind it can fail. tests/core/test_redaction.py checks it.
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----.*?(?:-----END \1-----|\Z)", re.DOTALL)
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d:.*?(?:Private-MAC: ?\w{0,128}|\Z)", re.DOTALL)
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]{5,4096}\.[\w-]{0,65536}\.[\w.-]*")
_BEARER = re.compile(r"\b(Bearer|Basic|Token|Digest)\s{1,3}[\w.~+/=-]{8,}", re.IGNORECASE)
_COOKIE = re.compile(r"""\b((?:Set-)?Cookie:\s{0,3})[\w.-]{1,64}=[^\r\n"'\\]+""", re.IGNORECASE)
_URL_CREDENTIALS = re.compile(r"(?<=://)[^\s/@:]{0,256}(?::[^\s/@]{0,256})?@")
_URL_SECRET = re.compile(
    r"""(?<=[?&\#;\0])([\w-]{0,30}?(?:
        token|key|secret|password|passwd|pwd|sig|signature|code|auth|link|ticket|session|sid|jwt
    ))=[^\s&\#"'<>\\]+""",
    re.IGNORECASE | re.VERBOSE,
)
_HOOK = re.compile(
    r"""((?:hooks\.slack\.com/(?:services|workflows|triggers)
        | discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks
        | \w{1,60}\.webhook\.office\.com/webhookb2
        | chat\.googleapis\.com/v1/spaces
    )/)[\w/@-]+""",
    re.IGNORECASE | re.VERBOSE,
)
_KEY = re.compile(
    r"""\b(?:
        tl_[\w-]{40,}
      # Models
      | sk-[\w-]{16,} | sk_[0-9a-f]{40,} | gsk_\w{20,} | xai-\w{20,} | hf_\w{20,} | r8_\w{20,}
      | pplx-\w{20,} | nvapi-[\w-]{20,} | fw_\w{20,} | lsv2_(?:pt|sk)_\w{20,} | pcsk_\w{20,}
      | AIza[\w-]{30,} | ya29\.[\w-]{20,} | GOCSPX-[\w-]{20,} | 1//0[\w-]{30,}
      # Code and packages
      | gh[opusr]_\w{20,} | github_pat_\w{20,}
      | gl(?:pat|dt|rt|cbt|ptt|soat|ft|imt|agent)-[\w-]{16,}
      | npm_\w{30,} | pypi-[\w-]{20,} | rubygems_[0-9a-f]{40,} | dckr_(?:pat|oat)_[\w-]{20,}
      | ATATT3[\w=-]{20,} | ATBB\w{24,} | sntry[su]_[\w=+/-]{20,} | NRAK-[A-Z0-9]{20,}
      # Payment and shops
      | (?:sk|pk|rk)_(?:live|test)_\w{10,} | whsec_[\w+/=]{16,} | shp(?:at|ca|pa|ss)_[0-9a-f]{20,}
      | sq0(?:atp|csp)-[\w-]{20,} | EAAA[\w-]{50,}
      # Chat and mail
      | xox[abceoprs]-[\w-]{10,} | xapp-[\w-]{10,} | (?:bot)?\d{8,10}:AA[\w-]{30,}
      | [MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,} | syt_[\w=]{1,128}_\w{20}_\w{6}
      | SG\.[\w-]{16,64}\.[\w-]{16,} | key-[0-9a-f]{32} | (?:AC|SK)[0-9a-f]{32}
      # Clouds and tools
      | (?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16} | do[opr]_v1_[0-9a-f]{40,} | HRKU-[\w-]{30,}
      | dapi[0-9a-f]{32} | hv[sbr]\.[\w-]{20,} | dp\.(?:pt|st|ct|sa)\.[\w.-]{20,}
      | \w{14}\.atlasv1\.[\w-]{40,}
      | gl(?:sa|c)_[\w=+/-]{20,} | sbp_[0-9a-f]{40} | sb_secret_[\w-]{20,} | nfp_\w{30,}
      | pscale_(?:tkn|pw|oauth)_[\w-]{20,} | PMAK-[0-9a-f]{24}-[0-9a-f]{34}
      | lin_(?:api|oauth)_\w{30,}
      | ntn_\w{30,} | secret_\w{40,} | figd_[\w-]{30,} | pat\w{14}\.[0-9a-f]{64}
      | AGE-SECRET-KEY-1[0-9A-Z]{50,} | xprv\w{100,}
    )""",
    re.VERBOSE,
)
_ASSIGNED = re.compile(
    r"""(?P<name>\b\w{0,30}?
        (?:(?:api|access|account|private|encryption|signing|master)[_\ -]?key
          |secret|token|passwd|password|passphrase|pwd|passwort|kennwort|contraseña)\b
        \\{0,8}["']?\s{0,3}(?:=|:|\b(?:is|ist|es)\b)\s{0,3}\\{0,8}["']?
    )(?!\[)[^\s"',;\\]{6,}""",
    re.IGNORECASE | re.VERBOSE,
)
_ASSIGNED_CJK = re.compile(
    r"((?:密码|密碼|口令|パスワード|비밀번호)\s{0,3}(?:=|:|：|是|は|는)\s{0,3})(?!\[)[^\s\"'，。、,;]{6,}"
)
_ARGUMENT = re.compile(
    r"""((?<!\S)(?:--[\w-]{0,30}?(?:password|passwd|token|secret|key)(?:=|\s{1,3})
        | (?:-u|--user)(?:=|\s{1,3})[^\s:]{1,64}:
        | machine\s{1,3}\S{1,256}\s{1,3}login\s{1,3}\S{1,256}\s{1,3}password\s{1,3}
    )["']?)(?!\[)[^\s"']{3,}""",
    re.IGNORECASE | re.VERBOSE,
)
_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}(?:@|%40\0)[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}", re.IGNORECASE
)
_SOCIAL_SECURITY = re.compile(r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])")
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
    whole = _PUTTY.sub("[key]", _PEM.sub("[key]", text))
    return "".join(_unmarked(_redact_piece(_marked(piece))) for piece in _pieces(whole))


def _pieces(text: str) -> Iterator[str]:
    """Cut a long text where a line ends, or at least a word."""
    begin = 0
    while len(text) - begin > PIECE:
        latest = begin + 2 * PIECE
        ends = (text.find(sign, begin + PIECE, latest) for sign in "\n ")
        end = next((one + 1 for one in ends if one >= 0), latest)
        yield text[begin:end]
        begin = end
    yield text[begin:]


def _marked(text: str) -> str:
    """Put a sign behind each escape; most texts have none."""
    return _ESCAPE.sub(r"\g<0>\0", text) if "\\" in text or "%" in text else text


def _unmarked(text: str) -> str:
    return text.replace(_NUL, "")


def _redact_piece(text: str) -> str:
    text = _URL_CREDENTIALS.sub("[credentials]@", text)
    text = _URL_SECRET.sub(r"\1=[secret]", text)
    text = _HOOK.sub(r"\1[secret]", text)
    text = _JWT.sub("[token]", text)
    text = _BEARER.sub(r"\1 [token]", text)
    text = _COOKIE.sub(r"\1[secret]", text)
    text = _KEY.sub("[key]", text)
    text = _ASSIGNED.sub(r"\g<name>[secret]", text)
    text = _ASSIGNED_CJK.sub(r"\1[secret]", text)
    text = _ARGUMENT.sub(r"\1[secret]", text)
    text = _EMAIL.sub("[email]", text)
    text = _SOCIAL_SECURITY.sub("[id]", text)
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
            _plain(word): placeholder
            for placeholder, words in people
            for word in words
            if len(word) >= (NAME_LENGTH if _has_spaces(word[:1]) else NAME_LENGTH - 1)
        }
        longest_first = sorted(self._spoken, key=len, reverse=True)
        forms = (form for word in longest_first for form in (word, normalize("NFD", word)))
        any_name = "|".join(dict.fromkeys(map(_written, forms)))
        self._names = re.compile(any_name, re.IGNORECASE) if any_name else None

    def text(self, text: str) -> str:
        """Redact a text, the names of the people in it included."""
        plain = redact_text(text)
        if self._names is None:
            return plain
        pieces = (self._names.sub(self._name, _marked(piece)) for piece in _pieces(plain))
        return _unmarked("".join(pieces))

    def _name(self, found: _Found) -> str:
        return self._spoken.get(_plain(found.group()), "[name]")


def _has_spaces(letter: str) -> bool:
    """Tell whether a letter is of a writing that parts its words; the others have no capitals."""
    return letter.isascii() or letter.lower() != letter.upper()


def _written(word: str) -> str:
    """Write the pattern of a name: a whole word, where words are parted, in all its spellings."""
    front = r"(?<!\w)" if _has_spaces(word[:1]) else ""
    end = r"(?!\w)" if _has_spaces(word[-1:]) else ""
    return front + "".join(map(_spelled, word)) + end


def _spelled(letter: str) -> str:
    """Write the pattern of a letter: as it is, escaped as in JSON up to four times, or in a URL."""
    if letter.isascii():
        return re.escape(letter)
    in_json = "".join(rf"\\{{1,15}}{one}\0" for one in json.dumps(letter)[2:-1].split("\\"))
    in_url = "".join(rf"%{one}\0" for one in quote(letter)[1:].split("%"))
    return f"(?:{letter}|{in_json}|{in_url})"


def _plain(name: str) -> str:
    """Bring all spellings of a name to one."""
    in_json = re.compile(r"(?:\\+u[0-9a-fA-F]{4})+")
    plain = in_json.sub(lambda found: _unescaped(found.group()), _unmarked(name))
    return normalize("NFC", unquote(plain)).casefold()


def _unescaped(text: str) -> str:
    once = re.sub(r"\\+", r"\\", text)
    return str(json.loads(f'"{once}"'))


HIDDEN = "••••••"
"""Stands for a secret wherever something is shown."""

_SHORTEST = 4
"""What is shorter than this stands in half of all words, and is no secret."""


def mask_secrets(text: str, secrets: Collection[str]) -> str:
    """Hide secrets in a text; the longest first, lest a part of one leaves the rest of another."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    return text
