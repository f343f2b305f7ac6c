"""What is taken out of a text, and what stays."""

import time

import pytest

from threadline.core.redaction import Redactor, redact_text
from threadline.testing.deadline import HANG_SECONDS

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


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "1 " * 100_000,
        "a@" * 100_000,
        "-----BEGIN A-----" * 5_000,
        "://" * 60_000,
        "password:" * 20_000,
        "eyJ" + "a" * 200_000,
        "DE89" * 50_000,
        "+1(" * 60_000,
    ],
    ids=lambda text: text[:12],
)
def test_no_text_takes_for_ever(text: str) -> None:
    """A long text made to be slow is done within seconds."""
    began = time.process_time()

    redact_text(text)

    assert time.process_time() - began < HANG_SECONDS


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
