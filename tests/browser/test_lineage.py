"""Somebody goes back: branches, says it differently, takes it back, and asks once more."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.screen import Screen


def test_a_branch_leaves_where_it_was_asked_for(screen: Screen) -> None:
    """A branch has what was said before it, goes on alone, and both know of each other."""
    page = _talk(screen)
    stem = page.url

    screen.choose(
        _actions(screen, "I heard: one").get_by_role("button", name="More"), "Branch from here"
    )
    page.wait_for_function("stem => location.href !== stem", arg=stem)
    screen.sees("I heard: one", "Branched off here")
    expect(screen.transcript.get_by_text("I heard: two")).to_have_count(0)
    screen.say("another two")
    screen.sees("I heard: another two")
    screen.keep("branch")

    page.goto(stem)
    screen.sees("I heard: two", "A branch starts here")
    expect(screen.transcript.get_by_text("I heard: another two")).to_have_count(0)
    screen.keep("fork")


def test_words_are_said_differently_in_a_branch(screen: Screen) -> None:
    """Editing asks the agent anew, in a branch; the old words stay where they were."""
    page = _talk(screen)
    stem = page.url

    _actions(screen, "two").get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Your message").fill("three")
    page.get_by_role("button", name="Send in a branch").click()

    page.wait_for_function("stem => location.href !== stem", arg=stem)
    screen.sees("I heard: three")
    expect(screen.transcript.get_by_text("I heard: two")).to_have_count(0)
    page.go_back()
    screen.sees("I heard: two")


def test_a_turn_is_taken_back_and_brought_back(screen: Screen) -> None:
    """Undo hides the last turn and offers its words; redo brings it back."""
    page = _talk(screen)
    menu = page.get_by_role("button", name="More for this conversation")

    screen.choose(menu, "Undo the last turn")
    expect(screen.transcript.get_by_text("I heard: two")).to_have_count(0)
    expect(screen.composer).to_have_value("two")
    screen.keep("undone")
    screen.choose(menu, "Show undone messages")
    screen.sees("I heard: two")
    screen.keep("undone-shown")
    screen.choose(menu, "Hide undone messages")

    screen.choose(menu, "Redo")
    screen.sees("I heard: two")
    expect(screen.composer).to_have_value("")


def test_an_answer_is_asked_for_once_more(screen: Screen) -> None:
    """Retry asks for the last answer anew; the former one is hidden, not lost."""
    page = _talk(screen)
    _actions(screen, "I heard: two").get_by_role("button", name="Retry").click()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)

    screen.choose(
        page.get_by_role("button", name="More for this conversation"), "Show undone messages"
    )

    expect(screen.transcript.get_by_text("I heard: two")).to_have_count(2)
    screen.keep("retried")


def _talk(screen: Screen) -> Page:
    page = screen.begin("one")
    screen.sees("I heard: one")
    screen.say("two")
    screen.sees("I heard: two")
    return page


def _actions(screen: Screen, words: str) -> Locator:
    """Find what can be done with the line that has just these words."""
    line = screen.transcript.get_by_role("listitem").filter(
        has=screen.page.get_by_text(words, exact=True)
    )
    line.last.hover()
    return line.last.get_by_role("group", name="Message actions")
