"""Commands that change what a conversation shows: undo, redo, retry, branch, compress."""

from threadline.core.cut import Redone, Undone
from threadline.core.errors import Invalid
from threadline.core.text import checked_text, clean_title
from threadline.sessions.commands.ask import Ask, Compress, Reply
from threadline.sessions.phrases import count
from threadline.sessions.transcripts.branch import branch_route
from threadline.sessions.transcripts.compact import require_compactable, undo_compaction
from threadline.sessions.transcripts.undo import redo as show_again
from threadline.sessions.transcripts.undo import retry as ask_again
from threadline.sessions.transcripts.undo import undo as take_back

_DIGITS = 6
FOCUS_LIMIT = 2000
"""Characters."""


def undo(ask: Ask) -> Reply:
    """Take back the last turns, and offer what the person had written."""
    turns = _number(ask.argument)
    id = ask.must_be_here()
    ask.stop()
    undone = take_back(ask.tx, id, turns, now=ask.now)
    return Reply(
        text=f"{tell_undone(undone, turns)} /redo brings them back.",
        offer="\n".join(undone.texts),
    )


def tell_undone(undone: Undone, wanted: int) -> str:
    """Say what was taken back, and whether that is less than was wanted."""
    lines = count(undone.messages, "message")
    less = "" if undone.turns == wanted else " There was no more."
    return f"Took back {count(undone.turns, 'turn')} ({lines}).{less}"


def _number(argument: str) -> int:
    if not argument:
        return 1
    is_number = argument.isascii() and argument.isdigit() and len(argument) <= _DIGITS
    if not is_number or int(argument) < 1:
        raise Invalid(
            f"“{clean_title(argument)}” is not a number of turns", hint="/undo 2 takes two"
        )
    return int(argument)


def redo(ask: Ask) -> Reply:
    """Bring back what was undone last."""
    return Reply(text=tell_redone(show_again(ask.tx, ask.must_be_here(), now=ask.now)))


def tell_redone(redone: Redone) -> str:
    """Say what is there again."""
    return f"Brought back {count(redone.messages, 'message')}."


def retry(ask: Ask) -> Reply:
    """Have the last words answered once more."""
    id = ask.must_be_here()
    ask.stop()
    retried = ask_again(ask.tx, id, now=ask.now)
    return Reply(text="Once more.", turn_id=retried.turn_id)


def branch(ask: Ask) -> Reply:
    """Go another way from here."""
    title = ask.title()
    left = ask.must_be_here()
    ask.stop()
    branch_route(
        ask.tx,
        ask.inbound.address,
        ask.inbound.sender,
        profile=ask.inbound.profile,
        title=title,
        rules=ask.rules,
        now=ask.now,
        new_id=ask.new_id,
    )
    called = f" called “{title}”" if title else ""
    return Reply(text=f"This is a branch{called} now. /resume {left} leads back.")


def compress(ask: Ask) -> Reply:
    """Have a summary written that stands for the older part, or take the last one back."""
    id = ask.must_be_here()
    if ask.argument.lower() == "undo":
        cut = undo_compaction(ask.tx, id, now=ask.now)
        return Reply(text=f"The agent reads the first {count(cut.to_seq, 'line')} again.")
    require_compactable(ask.tx, id, now=ask.now)
    focus = checked_text(ask.argument, "focus", FOCUS_LIMIT)
    return Reply(
        text="Writing a summary of the older part.", errand=Compress(session_id=id, focus=focus)
    )
