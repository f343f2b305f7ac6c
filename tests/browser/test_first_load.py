"""The first load is light: what a page needs at once is small, the rest comes when it is wanted."""

import re

from threadline.web.spa import BUILT

MOST = 120_000
"""Bytes of compressed script before anything can be shown."""
_ENTRY = re.compile(
    r'<(?:script type="module"|link rel="modulepreload")[^>]*(?:src|href)="([^"]+)"'
)
_IMPORT = re.compile(r'(?:^|[;}\s])(?:import|export)\s*(?:[\w*{][^;"\']*?from\s*)?"(\./[^"]+)"')


def test_the_first_load_is_light() -> None:
    """Everything that the page loads before it can show itself is at most 120 kB, compressed."""
    scripts = _needed()

    size = sum((BUILT / "assets" / f"{name}.gz").stat().st_size for name in scripts)
    assert scripts, "there is no script in the page"
    assert size <= MOST, f"{size} bytes: {sorted(scripts)}"


def _needed() -> set[str]:
    """Follow the imports from the page."""
    page = (BUILT / "index.html").read_text(encoding="utf-8")
    found: set[str] = set()
    ahead = [address.rpartition("/")[2] for address in _ENTRY.findall(page)]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            source = (BUILT / "assets" / name).read_text(encoding="utf-8")
            ahead += [address.rpartition("/")[2] for address in _IMPORT.findall(source)]
    return found
