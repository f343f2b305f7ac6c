import asyncio
import json
import os
import re

import msgspec

from tests.architecture.source import document
from tests.platforms.webhook_caller import SECRET, settings
from tests.web.test_server import FakeGateway
from threadline.core.platform import Capabilities
from threadline.platforms.webhook import Webhook, WebhookSettings
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.fake_gate import RecordingGate
from threadline.web.server import make_app, serve


def rows(page: str) -> dict[str, str]:
    """Read the tables of a page: what stands first in a row, and second."""
    found = re.findall(r"^\| `(\w+)` \|(.*?)\| .+ \|$", document(page), re.MULTILINE)
    return {name: default.strip("` ") for name, default in found}


def test_every_capability_is_in_the_table() -> None:
    """The page for authors lists each capability with the default that it has."""
    table = rows("platforms.md")
    for field in msgspec.structs.fields(Capabilities):
        assert table[field.name] == str(getattr(Capabilities(), field.name))


def test_every_setting_of_the_webhook_is_in_the_table() -> None:
    """The page of the webhook lists each setting with the default that it has."""
    table = rows("webhook.md")
    for name, field in WebhookSettings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = "" if field.is_required() or default is None else default
        assert table[name] == ("[]" if shown == () else str(shown)), name


async def test_the_example_for_a_shell_works() -> None:
    """What the page shows with curl and openssl is answered by a real server."""
    (script,) = re.findall(r"```sh\n(.*?)```", document("webhook.md"), re.DOTALL)
    webhook, gate = Webhook("shop", settings()), RecordingGate()
    running = asyncio.create_task(webhook.run(gate))
    async with serve(make_app(FakeGateway(webhook)), "127.0.0.1", 0) as url:
        shell = await asyncio.create_subprocess_exec(
            "sh",
            "-c",
            script,
            stdout=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "URL": url, "SHOP_SECRET": SECRET, "NO_PROXY": "*"},
        )
        said, _ = await asyncio.wait_for(shell.communicate(), HANG_SECONDS)
    running.cancel()
    await asyncio.wait({running})

    assert json.loads(said)["state"] == "working"
    assert gate.taken[0].sender.name == "Ann"
