"""Axe: finds what keeps people from using a page."""

from playwright.sync_api import Page

from tests.browser.chromium import UI

_SOURCE = (UI / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
_RUN = """async () => {
  // All rules are tried; what is right needs no description.
  const { violations } = await axe.run({ resultTypes: ["violations"] });
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.html} ${node.failureSummary}`));
}"""


def violations(page: Page) -> list[str]:
    """Tell what is wrong with a page as it is now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SOURCE)
    found: list[str] = page.evaluate(_RUN)
    return found
