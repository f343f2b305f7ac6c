"""What is taken out of a text, and what stays."""

import re

import pytest

from threadline.core import redaction
from threadline.core.redaction import Redactor, redact_text

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\nabc\n-----END RSA PRIVATE KEY-----"

TAKEN_OUT = [
    ("write to ann.lee+x@mail.example.org now", "write to [email] now"),
    ("ümläut@exämple.de", "[email]"),
    ("call +49 170 1234567 today", "call [phone] today"),
    ("call 0049 170 1234567", "call [phone]"),
    ("(0170) 1234567", "[phone]"),
    ("030/1234567", "[phone]"),
    ("(555) 123-4567", "[phone]"),
    ("555-123-4567", "[phone]"),
    ("https://ann:secret@host/x", "https://[credentials]@host/x"),
    ("postgres://ann@host/db", "postgres://[credentials]@host/db"),
    ("https://host/x?api_key=abc&y=1", "https://host/x?api_key=[secret]&y=1"),
    ("key sk-proj-abcdefghijklmnop1234", "key [key]"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[key]"),
    ("github_pat_11ABCDEFG0abcdefghijklmnop", "[key]"),
    ("xoxb-123456789012-abcdef", "[key]"),
    ("AKIAIOSFODNN7EXAMPLE", "[key]"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[key]"),
    ("110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "[key]"),
    (f"token: {JWT}", "token: [token]"),
    ("Authorization: Bearer abcdef1234567890", "Authorization: Bearer [token]"),
    (f"before\n{PEM}\nafter", "before\n[key]\nafter"),
    ("-----BEGIN PRIVATE KEY-----\ncut off", "[key]"),
    ("password = hunter22!", "password = [secret]"),
    ('"client_secret": "abcdef123"', '"client_secret": "[secret]"'),
    ("my password is correcthorse", "my password is [secret]"),
    ("DE89 3704 0044 0532 0130 00", "[iban]"),
    ("GB82WEST12345698765432", "[iban]"),
    ("4111 1111 1111 1111", "[card]"),
    ("card 5500-0000-0000-0004.", "card [card]."),
    ("tl_Zm9vYmFyYmF6Zm9vYmFyYmF6Zm9vYmFyYmF6-_4Q1", "[key]"),
    ("http://host/login?link=abc-def", "http://host/login?link=[secret]"),
    ("https://host/x?X-Amz-Signature=0a1b&x=1", "https://host/x?X-Amz-Signature=[secret]&x=1"),
    ("https://host/x?accessToken=0a1b", "https://host/x?accessToken=[secret]"),
    ("https://t/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/x", "https://t/[key]/x"),
    ("https://hooks.slack.com/services/T0/B0/x1y2", "https://hooks.slack.com/services/[secret]"),
    ("https://discord.com/api/webhooks/1/a-b", "https://discord.com/api/webhooks/[secret]"),
    ("aws_secret_access_key = abcdef/123456", "aws_secret_access_key = [secret]"),
    ("clientSecret: abcdef123", "clientSecret: [secret]"),
    ("redis://:hunter22@host:6379", "redis://[credentials]@host:6379"),
    ("mongodb+srv://u:p%40ss@c.example/db", "mongodb+srv://[credentials]@c.example/db"),
    ("https://discord.com/api/v10/webhooks/1/a-b", "https://discord.com/api/v10/webhooks/[secret]"),
    (
        "https://x.webhook.office.com/webhookb2/a@b/c",
        "https://x.webhook.office.com/webhookb2/[secret]",
    ),
    ("Authorization: Token abcdef123456", "Authorization: Token [token]"),
    ("Cookie: sid=abc123; theme=dark", "Cookie: [secret]"),
    ("Set-Cookie: sid=abc123; HttpOnly", "Set-Cookie: [secret]"),
    ("X-Api-Key: abcdef123456", "X-Api-Key: [secret]"),
    ("AccountKey=abcdef123456==;x=1", "AccountKey=[secret];x=1"),
    ("Passwort: hunter22", "Passwort: [secret]"),
    ("我的密码是abc12345", "我的密码是[secret]"),
    ("パスワード：abc12345", "パスワード：[secret]"),
    ("curl -u ann:hunter22 https://host", "curl -u ann:[secret] https://host"),
    ("tool --password hunter22 go", "tool --password [secret] go"),
    ("tool --api-key=hunter22 go", "tool --api-key=[secret] go"),
    ("machine host login ann password pw1", "machine host login ann password [secret]"),
    ("SSN 123-45-6789.", "SSN [id]."),
    ("PuTTY-User-Key-File-3: ssh-rsa\nx\nPrivate-MAC: 0a1b\nend", "[key]\nend"),
    ("eyJhbGciOiJkaXIi..iv.text.tag", "[token]"),
]

KEYS = [
    "sk-ant-api03-abcdefghijklmnop",
    "sk-or-v1-0123456789abcdef",
    "sk_" + "0a" * 24,
    "gsk_" + "a1" * 20,
    "r8_" + "a1" * 18,
    "pplx-" + "a1" * 20,
    "nvapi-" + "a1" * 30,
    "lsv2_pt_" + "a1" * 16,
    "pcsk_" + "a1" * 20,
    "GOCSPX-" + "a1" * 14,
    "1//0" + "a1" * 20,
    "glpat-" + "a1" * 10,
    "glrt-" + "a1" * 10,
    "rubygems_" + "0a" * 24,
    "dckr_pat_" + "a1" * 14,
    "ATATT3" + "a1" * 30,
    "sntrys_" + "a1" * 30,
    "NRAK-" + "A1" * 14,
    "whsec_" + "a1" * 16,
    "shpat_" + "0a" * 16,
    "sq0atp-" + "a1" * 11,
    "xoxc-" + "1-" * 10,
    "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "syt_YWxpY2U_" + "a1" * 10 + "_a1b2c3",
    "SG." + "a1" * 11 + "." + "a1" * 21,
    "key-" + "0a" * 16,
    "AC" + "0a" * 16,
    "dop_v1_" + "0a" * 32,
    "HRKU-" + "a1" * 18,
    "dapi" + "0a" * 16,
    "hvs." + "a1" * 15,
    "dp.pt." + "a1" * 21,
    "a1" * 7 + ".atlasv1." + "a1" * 34,
    "glsa_" + "a1" * 16 + "_0a1b2c3d",
    "sbp_" + "0a" * 20,
    "sb_secret_" + "a1" * 16,
    "nfp_" + "a1" * 20,
    "pscale_tkn_" + "a1" * 16,
    "PMAK-" + "0a" * 12 + "-" + "0a" * 17,
    "lin_api_" + "a1" * 20,
    "ntn_" + "a1" * 22,
    "secret_" + "a1" * 22,
    "figd_" + "a1" * 20,
    "pat" + "a1" * 7 + "." + "0a" * 32,
    "AGE-SECRET-KEY-1" + "QP" * 29,
    "xprv" + "a1" * 54,
]

INSIDE_JSON = [
    (r'{"a":"x\nsk-proj-abcdefghijklmnop1234"}', r'{"a":"x\n[key]"}'),
    (r'{"a":"x\tcall:\n+49 170 1234567"}', r'{"a":"x\tcall:\n[phone]"}'),
    (r'{"a":"\n4111 1111 1111 1111"}', r'{"a":"\n[card]"}'),
    (r'{"a":"\nDE89 3704 0044 0532 0130 00"}', r'{"a":"\n[iban]"}'),
    (r'{"a":"\nBearer abcdef1234567890"}', r'{"a":"\nBearer [token]"}'),
    (r'{"a":"\n' + JWT + '"}', r'{"a":"\n[token]"}'),
    (r'"{\"password\": \"hunter22\"}"', r'"{\"password\": \"[secret]\"}"'),
    (
        r'"https://host/x?a=1\u0026token=0a1b","y":2',
        r'"https://host/x?a=1\u0026token=[secret]","y":2',
    ),
    ("https://host/x?who=ann.lee%40example.org", "https://host/x?who=[email]"),
]

KEPT = [
    "",
    "nothing to see here",
    "version 3.11.7 of 2026-03-02 09:00:00",
    "20260302_090000_0a1b2c3d",
    "line 1234567",
    "4111 1111 1111 1112",
    "GB82WEST12345698765433",
    "a @mention and x@y",
    "the password is long",
    "https://host/path?page=2",
    "skeleton-key",
    "192.168.100.200",
    "1,000,000.00 dollars",
    "Cookie: chocolate chip",
    "tool --keyboard layout",
    "pat the dog",
]


@pytest.mark.parametrize(("text", "expected"), TAKEN_OUT)
def test_secrets_are_taken_out(text: str, expected: str) -> None:
    """What identifies somebody or opens something is replaced, and only that."""
    assert redact_text(text) == expected


@pytest.mark.parametrize(("text", "expected"), INSIDE_JSON)
def test_secrets_are_taken_out_of_what_tools_are_told(text: str, expected: str) -> None:
    """Tools speak JSON, in which the end of a line is written with a letter, right before a word.

    Such a key was taken for the end of a word, and stood on pages that were shared.
    """
    assert redact_text(text) == expected


@pytest.mark.parametrize("text", KEPT)
def test_other_words_stay(text: str) -> None:
    """Dates, versions, ids of sessions and numbers with a wrong check digit are no secrets."""
    assert redact_text(text) == text


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_known_services_are_taken_out(key: str) -> None:
    """A key is found by the prefix that its service gives to all keys."""
    assert redact_text(f"use {key} now") == "use [key] now"


def unbounded(pattern: re.Pattern[str]) -> list[str]:
    """List the repeats of a pattern that have no upper bound and can fail at what follows them."""
    text = pattern.pattern
    if pattern.flags & re.VERBOSE:
        text = re.sub(r"(?<!\\)(?:#.*|\s)", "", text)
    text = re.sub(r"\[\^?(?:\\.|[^\]])+\]", "c", text.replace(r"\Z", "<end>"))
    text = re.sub(r"\\.", "c", text)
    return [
        f"{text[: repeat.end()]} … {text[repeat.end() :]}"
        for repeat in re.finditer(r"[*+]|\{\d+,\}", text)
        if may_fail(text[repeat.end() :])
    ]


def may_fail(rest: str) -> bool:
    """Return whether the rest of a pattern, read from inside its groups, may fail to match."""
    if rest.endswith("|<end>)"):
        return False
    depth, is_skipping = 0, False
    for sign in rest:
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            is_skipping = is_skipping and depth >= 0
        elif sign == "|" and depth <= 0:
            is_skipping = True
        elif not is_skipping:
            return True
    return False


def test_every_pattern_is_linear() -> None:
    """Redaction takes time in proportion to the length of a text, whatever the text contains.

    A pattern may try each position of a text. So each try must be bounded: a repeat has an upper
    bound, or ends the pattern, so that the text it read is not read again. A repeated `eyJ` froze
    the process for 12 seconds because each of them was followed to the end of the text.
    """
    patterns = [value for value in vars(redaction).values() if isinstance(value, re.Pattern)]

    assert len(patterns) > 10
    assert [found for pattern in patterns for found in unbounded(pattern)] == []


def test_patterns_of_names_are_linear() -> None:
    """Names with letters that JSON escapes are looked for in time proportional to the text.

    A message of 128,000 backslashes kept an export busy for more than a minute, because each of
    them was followed to the end of the text.
    """
    written = vars(redaction)["_written"]
    names = ["Éva Müller", "владимир", "王小明", "\U0001d4d0da", "\\+%"]

    assert [found for name in names for found in unbounded(re.compile(written(name)))] == []


@pytest.mark.parametrize(
    "pattern",
    [r"\beyJ[\w-]{5,}\.[\w-]*", r"a+b", r"(?:a*b)+", r"(?:a+|b)c", r".*?x"],
)
def test_patterns_that_are_not_linear_are_found(pattern: str) -> None:
    """The check of the patterns finds a repeat that has no bound and can fail."""
    assert unbounded(re.compile(pattern))


def test_a_person_has_one_placeholder() -> None:
    """The same all through one export, another one for everybody else, and none that tells."""
    redactor = Redactor()
    alice = redactor.stand_in("person", "telegram", "alice")

    assert alice == "person-1"
    assert redactor.stand_in("person", "signal", "alice") == "person-2"
    assert redactor.stand_in("chat", "telegram", "alice") == "chat-1"
    assert redactor.stand_in("person", "telegram", "alice") == alice


def test_names_are_found_in_texts() -> None:
    """As whole words, whatever their case; a name that was not learned, or is short, stays."""
    redactor = Redactor()
    redactor.learn([("person-1", ["alice", "Alice Miller", "Al"]), ("person-2", ["b.o+b"])])

    assert redactor.text("ALICE MILLER and Alice's malice, b.o+b, Al") == (
        "person-1 and person-1's malice, person-2, Al"
    )
    redactor.learn([])
    assert redactor.text("alice") == "alice"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'{"to":"Hello\nJürgen"}', r'{"to":"Hello\nperson-1"}'),
        (r'{"to":"J\u00fcrgen"}', '{"to":"person-1"}'),
        (r'"{\"to\":\"J\\u00FCrgen\"}"', r'"{\"to\":\"person-1\"}"'),
        ("J" + "\\" * 15 + "u00fcrgen", "person-1"),
        (
            "https://host/?to=J%C3%BCrgen%20x&y=a%20Jürgen",
            "https://host/?to=person-1%20x&y=a%20person-1",
        ),
        ("Ju\u0308rgen", "person-1"),
        ("请王小明来", "请person-2来"),
        ("田中さん", "person-3さん"),
    ],
)
def test_names_are_found_however_they_are_written(text: str, expected: str) -> None:
    """Escaped as in JSON or an address, composed or not, and in writing without spaces."""
    redactor = Redactor()
    redactor.learn([("person-1", ["Jürgen"]), ("person-2", ["王小明"]), ("person-3", ["田中"])])

    assert redactor.text(text) == expected


def test_a_long_text_is_redacted_piece_by_piece() -> None:
    """Nothing is lost between two pieces, and a key that goes over many lines is still found."""
    line = "call +49 170 1234567 today\n"
    text = line * 20_000 + PEM + "x" * 300_000 + " " + line

    told = redact_text(text)

    redacted = "call [phone] today\n"
    assert told == redacted * 20_000 + "[key]" + "x" * 300_000 + " " + redacted
