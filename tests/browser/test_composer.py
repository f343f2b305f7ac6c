"""Where one writes: files that go along, and what waits for its turn."""

import re

from playwright.sync_api import FilePayload, expect

from tests.browser.screen import Screen

_PASTE = """(field) => {
  const pasted = new DataTransfer();
  pasted.items.add(new File(["meow"], "cat.txt", { type: "text/plain" }));
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: pasted, bubbles: true }));
}"""


def test_files_go_along_and_wait_where_they_were_left(screen: Screen) -> None:
    """They come by a button or are pasted, are there again for who comes back, and are sent."""
    page = screen.begin("Look at these")
    screen.sees("I heard: Look at these")
    note: FilePayload = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"remember"}
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Attach files").click()
    chosen.value.set_files([note])
    screen.composer.evaluate(_PASTE)
    files = page.get_by_role("list", name="Attached files").get_by_role("listitem")
    expect(files).to_contain_text(["note.txt", "cat.txt"])
    expect(page.get_by_role("progressbar")).to_have_count(0)

    page.get_by_role("button", name="New conversation").click()
    expect(files).to_have_count(0)
    page.go_back()
    expect(files).to_have_count(2)

    page.get_by_role("button", name="Remove cat.txt").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Remove note.txt")).to_be_focused()
    screen.say("This one")
    screen.sees("I heard: This one", "note.txt")
    expect(files).to_have_count(0)
    page.reload()
    screen.sees("I heard: This one")
    expect(files).to_have_count(0)


def test_the_focus_stays_with_what_waits(screen: Screen) -> None:
    """Whoever takes back or changes something that waits goes on from there by keyboard."""
    page = screen.begin("hang on")
    screen.sees("Once upon a time")
    for words in ("first", "second"):
        screen.say(words)
        expect(page.get_by_role("button", name=re.compile(f"“{words}”")).first).to_be_visible()
    chips = page.get_by_role("region", name="Waiting").get_by_role("listitem")
    expect(chips).to_have_count(2)

    chips.first.get_by_role("button").last.focus()
    page.keyboard.press("Enter")
    expect(chips).to_have_count(1)
    expect(chips.first.get_by_role("button").last).to_be_focused()

    chips.first.get_by_role("button").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(chips.first.get_by_role("button").last).to_be_focused()
    page.keyboard.press("Enter")
    expect(screen.composer).to_be_focused()
    page.get_by_role("button", name="Stop").click()
