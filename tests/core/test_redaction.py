"""What is taken out of a text, and what stays."""

import time

import pytest

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
    began = time.monotonic()

    redact_text(text)

    assert time.monotonic() - began < 5


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
