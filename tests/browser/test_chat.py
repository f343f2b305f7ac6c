"""Somebody talks to the agent: it thinks, speaks, uses tools, waits, and can be stopped."""

from playwright.sync_api import expect

from tests.browser.agent import END, STORY
from tests.browser.screen import Screen


def test_an_answer_is_seen_while_it_is_told(screen: Screen) -> None:
    """Words are shown as they come, and are the same once they are kept."""
    page = screen.begin("pour 100 40")
    stop, end = page.get_by_role("button", name="Stop"), screen.transcript.get_by_text("Line 99 of")

    screen.sees("Line 3 of")
    expect(stop).to_be_visible()
    expect(end).to_have_count(0)
    expect(end).to_be_visible()
    expect(stop).to_have_count(0)
    page.reload()

    expect(end).to_be_visible()
    screen.keep("chat")


def test_stopping_keeps_what_was_said(screen: Screen) -> None:
    """Stop ends the turn at once; what was said stands there, marked."""
    page = screen.begin("hang on")
    screen.sees(STORY)

    page.get_by_role("button", name="Stop").click()

    screen.sees(STORY, "This answer was stopped.")
    expect(screen.transcript.get_by_text(END)).to_have_count(0)
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    screen.keep("stopped")


_NOTE_HINT = """() => new MutationObserver(() => {
  window.hinted ||= document.body.textContent.includes("Press Esc again to stop");
}).observe(document.body, { childList: true, characterData: true, subtree: true })"""
"""The hint is shown for two seconds, which a busy machine may not see."""
_PRESS_TWICE = """(field) => {
  const press = { key: "Escape", bubbles: true, cancelable: true };
  for (const _ of [1, 2]) field.dispatchEvent(new KeyboardEvent("keydown", press));
}"""


def test_escape_twice_stops(screen: Screen) -> None:
    """The keyboard can stop, but not by one slip."""
    screen.begin("hang on")
    screen.sees(STORY)

    screen.page.evaluate(_NOTE_HINT)
    screen.composer.press("Escape")
    screen.page.wait_for_function("window.hinted")
    expect(screen.page.get_by_role("button", name="Stop")).to_be_visible()
    screen.composer.evaluate(_PRESS_TWICE)

    screen.sees("This answer was stopped.")


def test_words_wait_for_their_turn(screen: Screen) -> None:
    """What is said meanwhile waits and is answered in order; what is taken back never is."""
    page = screen.begin("hang on")
    screen.sees(STORY)
    screen.say("first in line")
    screen.say("second in line")
    waiting = page.get_by_role("region", name="Waiting")
    expect(waiting.get_by_role("listitem")).to_have_count(2)

    waiting.get_by_role("button", name="Take back “second in line”").click()
    expect(waiting.get_by_role("listitem")).to_have_count(1)
    screen.keep("queue")
    page.get_by_role("button", name="Stop").click()

    screen.sees("I heard: first in line")
    expect(screen.transcript.get_by_text("I heard: second in line")).to_have_count(0)


def test_a_tool_is_one_quiet_line(screen: Screen) -> None:
    """A call and its result are one card that opens; thoughts are folded."""
    page = screen.begin("work the cat sat")
    screen.sees("It says: the cat sat")

    card = page.locator("details").filter(has_text="read_file")
    expect(card).to_contain_text("notes.md")
    expect(card.get_by_text("Output")).to_have_count(0)
    card.locator("summary").click()

    expect(card.get_by_text("Output")).to_be_visible()
    expect(card.get_by_text("the cat sat")).to_be_visible()
    screen.keep("tool")
