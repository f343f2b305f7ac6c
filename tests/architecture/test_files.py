"""What is in the repository is at home on every machine."""

import json
import re
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, own_files

MACHINE = re.compile(
    r"(?<![\w.~*/-])/(?:root|work|workspace|opt|tmp|home/\w+|Users/\w+)/|file:///\w"
)
REGISTRY = re.compile(
    r"https?://[^\s\"'`)>]*(?:pypi|pythonhosted|npmjs|npmmirror|/simple\b)"
    r"|--(?:extra-)?index-url|--find-links|--trusted-host",
    re.IGNORECASE,
)


def strange(text: str, pattern: re.Pattern[str]) -> list[int]:
    """Number the lines in which something of one machine or registry stands."""
    return [n for n, line in enumerate(text.splitlines(), start=1) if pattern.search(line)]


def found_in_files(pattern: re.Pattern[str]) -> list[str]:
    """Name the places in our files which match; a file that is no text has none."""
    found = []
    for path in own_files():
        text = path.read_text(encoding="utf-8", errors="replace")
        if path != Path(__file__) and "\0" not in text:
            found += [f"{path.relative_to(ROOT)}:{n}" for n in strange(text, pattern)]
    return found


def test_no_file_knows_a_machine() -> None:
    """No path of the machine it was written on stands in any file."""
    here = MACHINE
    if len(ROOT.parts) > 2:
        here = re.compile(f"{MACHINE.pattern}|{re.escape(str(ROOT))}\\b")
    found = found_in_files(here)

    assert not found, "paths of one machine:\n" + "\n".join(found)


def test_no_file_knows_a_registry() -> None:
    """Where packages come from is the business of the machine that installs them."""
    found = found_in_files(REGISTRY)

    assert not found, "addresses of registries:\n" + "\n".join(found)


def test_every_locked_package_has_a_hash() -> None:
    """A lock file pins each package to one version and to the hashes of its files."""
    locks = sorted((ROOT / "requirements").glob("*.txt"))
    assert locks
    for lock in locks:
        packages = [line for line in lock.read_text("utf-8").split("\n") if re.match(r"\w", line)]
        assert packages
        assert all(re.match(r"[\w.-]+==\S+ (; .* )?\\$", package) for package in packages)


def test_every_locked_package_of_the_web_app_has_a_hash_and_no_address() -> None:
    """What `npm ci` installs is pinned to one version and hash, whichever registry it is from."""
    asked = json.loads((ROOT / "ui" / "package.json").read_text("utf-8"))
    locked = json.loads((ROOT / "ui" / "package-lock.json").read_text("utf-8"))["packages"]
    wanted = {**asked.get("dependencies", {}), **asked["devDependencies"]}
    packages = {path: one for path, one in locked.items() if path}

    assert {name: packages[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert packages
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    assert not any("resolved" in one for one in packages.values())


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("# made in /root/project", MACHINE),
        ("cd /home/alice/threadline", MACHINE),
        ("--find file:///mirror", MACHINE),
        ('"resolved": "https://registry.npmjs.org/vite"', REGISTRY),
        ("--extra-index-url file:///mirror", REGISTRY),
    ],
)
def test_strange_lines_are_found(line: str, pattern: re.Pattern[str]) -> None:
    """Paths and addresses of one machine are found."""
    assert strange(f"first\n{line}\n", pattern) == [2]


@pytest.mark.parametrize("line", ["see docs/work/day.md", "~/work/x", "https://a.org/root/"])
def test_plain_lines_pass(line: str) -> None:
    """Relative paths and addresses of other places are right."""
    assert not strange(line, MACHINE)
    assert not strange(line, REGISTRY)
