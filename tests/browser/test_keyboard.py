"""Everything by keyboard alone: the focus is always seen, and always comes back."""

from playwright.sync_api import Page, expect

from tests.browser.screen import Screen

_FOCUSED = """() => {
  const one = document.activeElement;
  const look = () => {
    const found = [];
    for (let at = one, far = 0; at && far < 4; at = at.parentElement, far++) {
      for (const part of [null, "::before", "::after"]) {
        const style = getComputedStyle(at, part);
        found.push(style.outline, style.boxShadow, style.borderColor, style.backgroundColor);
      }
    }
    return found.join();
  };
  const focused = look();
  one.blur();
  const plain = look();
  one.focus({ preventScroll: true });
  return one !== document.body && one.getBoundingClientRect().width > 0 && focused !== plain;
}"""
"""Whatever has the focus, or what it stands in, looks otherwise than without it."""


def test_a_conversation_by_keyboard_alone(screen: Screen) -> None:
    """Write, walk along the line, branch, and go back to the list: no pointer is touched."""
    page = screen.page
    expect(screen.sidebar).to_be_visible()
    page.keyboard.press("Control+Shift+O")
    expect(screen.composer).to_be_focused()
    page.keyboard.type("by keyboard")
    page.keyboard.press("Enter")
    screen.sees("I heard: by keyboard")
    expect(screen.composer).to_be_focused()

    _reach(page, "Shift+Tab", "Agent, line")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("button", name="owner, line")).to_be_focused()

    _reach(page, "Tab", "More")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Copy", exact=True)).to_be_focused()
    page.keyboard.press("b")
    expect(page.get_by_role("menuitem", name="Branch from here")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu", name="More").locator("visible=true")).to_have_count(0)
    screen.keep("keyboard")


def test_the_list_is_walked_with_arrows(screen: Screen) -> None:
    """Arrows go from row to row, Enter opens, and a slash leads to the search."""
    for words in ("first talk", "second talk"):
        screen.begin(words)
        screen.sees(f"I heard: {words}")
    page = screen.go("/")
    rows = screen.sidebar.get_by_role("listitem").get_by_role("link")
    expect(rows.filter(has_text="second talk")).to_be_visible()

    rows.first.focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    screen.sees("I heard: first talk")

    screen.transcript.focus()
    page.keyboard.press("/")
    expect(page.get_by_role("textbox", name="Search")).to_be_focused()


def _reach(page: Page, key: str, name: str) -> None:
    """Press a key until something is reached, and see on the way that the focus can be seen."""
    for _ in range(40):
        page.keyboard.press(key)
        assert page.evaluate(_FOCUSED), page.evaluate("document.activeElement.outerHTML")
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        if str(label).startswith(name):
            return
    raise AssertionError(f"{name} is not reached with {key}")
