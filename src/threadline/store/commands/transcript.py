"""Commands that change what a conversation shows: undo, redo, retry, branch, compress."""

from threadline.core.errors import Invalid
from threadline.core.hidden_range import Redone, Undone
from threadline.core.validation import checked_text, clean_title
from threadline.store.branches.branch import branch_route
from threadline.store.commands.context import CommandContext, CommandReply, Compress
from threadline.store.formatting import count
from threadline.store.transcripts.compaction import require_compactable, undo_compaction
from threadline.store.transcripts.undo import redo as show_again
from threadline.store.transcripts.undo import retry as ask_again
from threadline.store.transcripts.undo import undo as take_back

_DIGITS = 6
FOCUS_LIMIT = 2000
"""Characters."""


def undo(ask: CommandContext) -> CommandReply:
    """Take back the last turns, and offer what the person had written."""
    turns = _number(ask.argument)
    id = ask.must_be_here()
    ask.stop()
    undone = take_back(ask.tx, id, turns)
    return CommandReply(
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


def redo(ask: CommandContext) -> CommandReply:
    """Bring back what was undone last."""
    return CommandReply(text=tell_redone(show_again(ask.tx, ask.must_be_here())))


def tell_redone(redone: Redone) -> str:
    """Say what is there again."""
    return f"Brought back {count(redone.messages, 'message')}."


def retry(ask: CommandContext) -> CommandReply:
    """Have the last words answered once more."""
    id = ask.must_be_here()
    ask.stop()
    is_in_chat = ask.session is None
    retried = ask_again(ask.tx, id, by=ask.asker(), is_for_asker=is_in_chat)
    return CommandReply(text="Once more.", turn_id=retried.turn_id)


def branch(ask: CommandContext) -> CommandReply:
    """Go another way from here."""
    title = ask.title()
    left = ask.must_be_here()
    ask.stop()
    branch_route(
        ask.tx, ask.inbound.address, ask.inbound.sender, profile=ask.inbound.profile, title=title
    )
    called = f" called “{title}”" if title else ""
    return CommandReply(text=f"This is a branch{called} now. /resume {left} leads back.")


def compress(ask: CommandContext) -> CommandReply:
    """Have a summary written that stands for the older part, or take the last one back."""
    id = ask.must_be_here()
    if ask.argument.lower() == "undo":
        cut = undo_compaction(ask.tx, id)
        return CommandReply(text=f"The agent reads the first {count(cut.to_seq, 'line')} again.")
    require_compactable(ask.tx, id)
    focus = checked_text(ask.argument, "focus", FOCUS_LIMIT)
    return CommandReply(
        text="Writing a summary of the older part.", errand=Compress(session_id=id, focus=focus)
    )
