"""A shop that talks to Threadline over its signed webhook, and is called back."""

import json
import threading
import urllib.request
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from types import TracebackType
from typing import Self

from threadline.platforms.webhook import sign
from threadline.testing.deadline import HANG_SECONDS

SECRET = "a secret for tests only"


class Shop:
    """Somebody on a platform: says things there, and is told the answers."""

    def __init__(self) -> None:
        """Open the door for callbacks."""
        heard: Queue[str] = Queue()
        refusals: Queue[int] = Queue()

        class Door(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = 200 if refusals.empty() else refusals.get()
                if status == 200:
                    heard.put(str(told["text"]))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._heard, self._refusals = heard, refusals
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def settings(self) -> str:
        """The settings that connect it."""
        return (
            f'\n[platforms.shop]\ntype = "webhook"\nsecret = "{SECRET}"\n'
            f'callback = "http://127.0.0.1:{self._server.server_port}/answers"\n'
        )

    def says(self, url: str, text: str, *, name: str = "Ann", session: str = "order 66") -> None:
        """Say something to the server at a URL."""
        told = {
            "message_id": f"{session} {text}",
            "session": session,
            "text": text,
            "sender": {"id": name.lower(), "name": name},
        }
        body = json.dumps(told).encode()
        request = urllib.request.Request(
            f"{url}/platforms/shop/messages",
            data=body,
            headers=sign(SECRET, body, datetime.now(UTC)),
        )
        with urllib.request.urlopen(request, timeout=HANG_SECONDS) as answer:
            assert answer.status < 300, answer.read()

    def refuses(self) -> None:
        """Let the next callback be told that nobody is there any more."""
        self._refusals.put(410)

    def hears(self) -> str:
        """Wait for the next callback."""
        return self._heard.get(timeout=HANG_SECONDS)
