"""The files of the app, by names that somebody made up."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from tests.web.browser import browsing
from threadline.web.request_limits import RequestGuard
from threadline.web.spa import SpaFiles


@pytest.fixture
def site(tmp_path: Path) -> Starlette:
    """Make an application of a small build, beside a file that is none of it."""
    built = tmp_path / "built"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("the app")
    (built / "assets" / "index-B1.js").write_text("run()")
    (tmp_path / "secret.txt").write_text("a secret")
    return Starlette(routes=SpaFiles(built).routes(), middleware=[Middleware(RequestGuard)])


@pytest.mark.parametrize(
    "name",
    [
        "%00",
        "a" * 5000,
        "../index.html",
        "%2e%2e/index.html",
        "..%2f..%2fsecret.txt",
        "%2e%2e%2f%2e%2e%2fsecret.txt",
        "%2e%2e%2f",
        "/etc/passwd",
        "%ff",
        "index-B1.js%00.css",
        "index-B1.js/x",
    ],
)
async def test_an_odd_name_is_nothing(
    site: Starlette, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No name leads out of the folder, and none of them breaks anything or fills the log."""
    async with browsing(site) as browser:
        odd = await browser.client.get(f"/assets/{name}")
        known = await browser.client.get("/assets/index-B1.js")

    assert odd.status_code == 404
    assert "immutable" not in odd.headers["cache-control"]
    assert (known.status_code, known.text) == (200, "run()")
    assert caplog.records == []
