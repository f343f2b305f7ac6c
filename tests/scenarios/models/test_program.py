"""The whole program with a model: settings, a gateway, a chat and a doctor, each as a process."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.cli.program import run_apart
from tests.cli.server_process import Server
from tests.doubles.providers import ProviderDouble, Says, Unauthorised

KEY, WRONG_KEY = "sk-a-key-that-nobody-may-read", "sk-a-key-that-nobody-knows"
KEY_FILE, SETTINGS = "openai.key", "threadline.toml"


def settle(home: Path, double: ProviderDouble) -> None:
    """Write settings that lead to the double, with the key in a file of its own."""
    (home / KEY_FILE).write_text(f"{KEY}\n")
    (home / SETTINGS).write_text(
        f"""
        [agent]
        model = "openai:gpt-5"

        [scribe]
        titles = false

        [providers.openai]
        base_url = "{double.url}/openai/v1"
        api_key = "file:{KEY_FILE}"
        """
    )


def files_with(home: Path, words: str) -> list[str]:
    """Name the files in which some words stand, byte for byte."""
    found = (path for path in home.rglob("*") if path.is_file())
    return sorted(path.name for path in found if words.encode() in path.read_bytes())


@pytest.fixture
def home(tmp_path: Path, double: ProviderDouble) -> Path:
    """A home with settings, and a provider that knows one key."""
    double.key = KEY
    settle(tmp_path, double)
    return tmp_path


async def test_a_message_goes_through_a_served_gateway(home: Path, double: ProviderDouble) -> None:
    """A chat is answered by the model of the gateway; the key goes to the provider alone."""
    double.will(Says("Peas are green."))
    with Server(home) as server:
        await asyncio.to_thread(server.url)
        done = await asyncio.to_thread(run_apart, home, "chat", lines=b"what about peas?\n")
        said = double.last
        double.will(Unauthorised())
        failed = await asyncio.to_thread(run_apart, home, "chat", lines=b"and beans?\n")
        server.tell(signal.SIGTERM)
        assert await asyncio.to_thread(server.ended) == 0
        shown = server.seen + server.logged()

    assert done.returncode == 0, done.stderr.decode()
    assert b"Peas are green." in done.stdout
    assert "what about peas?" in said.body.decode()
    assert said.headers["authorization"] == f"Bearer {KEY}"
    assert b"The provider of openai:gpt-5 did not accept the key" in failed.stdout
    for output in (done.stdout, done.stderr, failed.stdout, failed.stderr, shown.encode()):
        assert KEY.encode() not in output
    assert len(double.requests) == 2, "titles are not wanted here"
    assert files_with(home, "Peas are green.")
    assert files_with(home, KEY) == [KEY_FILE]


async def test_the_doctor_asks_the_model(home: Path) -> None:
    """Whether it answers; and if it does not, why, without the key that the provider quotes."""
    wrong = {"THREADLINE_PROVIDERS__OPENAI__API_KEY": WRONG_KEY}
    well, ill = await asyncio.gather(
        asyncio.to_thread(run_apart, home, "doctor"),
        asyncio.to_thread(run_apart, home, "doctor", more=wrong),
    )

    assert b"gpt-5 answered in" in well.stdout
    assert b"The provider of openai:gpt-5 did not accept the key" in ill.stdout
    for output in (well.stdout, well.stderr, ill.stdout, ill.stderr):
        assert KEY.encode() not in output
        assert WRONG_KEY.encode() not in output
    assert files_with(home, KEY) == [KEY_FILE]
    assert not files_with(home, WRONG_KEY)
