"""`threadline serve` reads its settings again when it is told to."""

import signal
from pathlib import Path

import httpx

from tests.cli.program import run
from tests.cli.server_process import Server
from threadline.testing.deadline import HANG_SECONDS


def test_a_signal_lets_the_server_read_its_settings_again(home: Path) -> None:
    """A new platform is there without a restart; what is wrong is said, and changes nothing."""
    assert run("init", "--yes", "--webhook").exit_code == 0
    file = home / ".threadline" / "threadline.toml"
    with Server(home) as server:
        url = server.url()
        assert run("config", "set", "platforms.second.type", "webhook").exit_code == 1
        added = '{type = "webhook", secret = "0123456789abcdef0123456789abcdef"}'
        assert run("config", "set", "platforms.second", added).exit_code == 0
        assert "0123456789abcdef" not in file.read_text()

        server.tell(signal.SIGHUP)
        server.expect("The settings were read again.")

        ready = httpx.get(f"{url}/readyz", timeout=HANG_SECONDS).json()
        assert set(ready["platforms"]) == {"local", "second", "webhook"}

        file.write_text("concurrency = = 4\n")
        server.tell(signal.SIGHUP)
        told = server.expect("The settings stay as they were.")
        assert "0123456789abcdef" not in told
        assert httpx.get(f"{url}/readyz", timeout=HANG_SECONDS).json()["status"] == "ready"
