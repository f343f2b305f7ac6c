"""`threadline serve`: a real process, from a signed request to its answer, and its end."""

import json
import signal
import socket
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from tests.cli.program import run, run_apart
from tests.cli.server_process import Server
from threadline.platforms.webhook import sign
from threadline.testing.deadline import HANG_SECONDS

DATABASE = Path(".threadline") / "threadline.db"


def post(url: str, secret: str, text: str, *, wait: int = 30) -> httpx.Response:
    """Post a signed message, and wait for the answer."""
    payload = {
        "message_id": text,
        "session": "builds",
        "text": text,
        "sender": {"id": "ci", "name": "CI"},
    }
    body = json.dumps(payload).encode()
    headers = {"Content-Type": "application/json", **sign(secret, body, datetime.now(UTC))}
    where = f"{url}/platforms/webhook/messages?wait={wait}"
    return httpx.post(where, content=body, headers=headers, timeout=HANG_SECONDS)


def get(url: str) -> httpx.Response:
    """Get what the server shows."""
    return httpx.get(url, timeout=HANG_SECONDS)


def key_of(home: Path) -> str:
    """Read the key that `init` made."""
    return (home / ".threadline" / "webhook.secret").read_text().strip()


def wait_for_running_turn(url: str) -> None:
    """Wait until the server is busy with an answer."""
    over = time.monotonic() + HANG_SECONDS
    while get(f"{url}/readyz").json()["running"] == 0:
        assert time.monotonic() < over, "no turn ever ran"
        time.sleep(0.02)


def test_a_signed_message_is_answered(home: Path) -> None:
    """`init`, `serve`, a request and its answer; `status` tells of it; SIGTERM ends it."""
    assert run("init", "--yes", "--webhook").exit_code == 0
    with Server(home) as server:
        url = server.url()
        assert get(f"{url}/healthz").status_code == 200
        assert get(f"{url}/readyz").json()["status"] == "ready"

        answer = post(url, key_of(home), "Hello there!")

        assert answer.status_code == 200, answer.text
        assert "Hello there!" in answer.text
        assert post(url, "not the key, not the key", "Let me in").status_code in {401, 403}
        assert 'threadline_arrivals_total{platform="webhook"' in get(f"{url}/metrics").text
        status = json.loads(run("status", "--json").stdout)
        assert status["gateways"][0]["url"] == url

        server.tell(signal.SIGTERM)
        assert server.ended() == 0
        server.expect("Stopped.")
    assert json.loads(run("status", "--json").stdout)["gateways"] == []
    assert key_of(home) not in server.seen + server.logged()


def test_a_second_signal_ends_it_at_once(home: Path) -> None:
    """However long an answer would take; it goes on with the next start."""
    run("init", "--yes", "--webhook")
    with Server(home) as server:
        asked = post(server.url(), key_of(home), "slow please", wait=0)
        assert asked.status_code == 202, asked.text
        wait_for_running_turn(server.url())

        server.tell(signal.SIGINT)
        server.expect("Stopping")
        server.tell(signal.SIGINT)
        assert server.ended() == 1
    assert "Stopped." not in server.seen


def test_with_no_platform_it_says_how_to_get_one(home: Path) -> None:
    """It serves all the same: jobs run, and a terminal is answered."""
    with Server(home) as server:
        server.url()
        assert "No platform is set up: `threadline init` shows how." in server.seen
        server.tell(signal.SIGINT)
        assert server.ended() == 0


def test_a_port_that_is_taken_is_said(home: Path) -> None:
    """In a sentence, and before anything is begun."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_apart(home, "serve", "--port", str(port))

    assert done.returncode == 1
    assert f"Cannot listen on port {port} of 127.0.0.1" in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_other_machines_are_not_served_in_plain_http(home: Path, host: str) -> None:
    """Without https before it, it listens on this machine alone, and begins nothing."""
    done = run("serve", "--host", host)

    assert done.exit_code == 1
    assert f"server.host cannot be '{host}'" in done.output
    assert not (home / DATABASE).exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[platforms.webhook]", "platforms.webhook.secret is missing"),
        ("[platforms.webhook]\nsecret = 'short'", "a secret has at least 16 characters"),
        ("[platforms.webhook]\nsecrt = 'x'\nsecret='0123456789abcdef'", "Did you mean"),
        ("[platforms.webhook]\nsecret = 'env:NOT_SET'", "env:NOT_SET"),
        ("[platforms.pigeon]\nx = 1", "platforms.pigeon.type is missing"),
        ("[platforms.hook]\ntype = 'webhok'", "There are: telegram, webhook"),
        ("[hooks]\nturn_finished = ['nowhere.at_all:told']", "nowhere.at_all"),
    ],
)
def test_a_platform_that_cannot_be_made_is_named(home: Path, text: str, sentence: str) -> None:
    """With its key, and never with its secret."""
    (home / "threadline.toml").write_text(text)

    done = run("serve", "--port", "0")

    assert done.exit_code == 1
    assert sentence in done.output
    assert "short" not in done.output
