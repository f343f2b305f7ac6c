"""Runner: one slice of a forgetting after the other, until nothing is left."""

from collections.abc import Callable

from threadline.core.deletion import DeletionState, ForgettingId, Seal
from threadline.core.turn import TurnId
from threadline.database.port import Transaction
from threadline.store.deletion import messages, person, shared_messages, tasks
from threadline.store.deletion.session import remove_some
from threadline.store.deletion.tasks import DeletionSlice, Task

_PIECES = 8
"""Pieces of an attachment that are deleted in one slice."""
_SHORT = frozenset({"turn", "address"})
_AT_ONCE = 6
"""Tasks of a short step in one slice."""


def forget_some(tx: Transaction, id: ForgettingId, *, seal: Seal) -> bool:
    """Carry out a slice of a forgetting; False when no row is left to remove."""
    before = tasks.lock_deletion(tx, id)
    if before.state is not DeletionState.REMOVING:
        return False
    work = DeletionSlice(tx=tx, id=id, kind=before.kind, seal=seal)
    goes_on = _take_step(work)
    state = DeletionState.REMOVING if goes_on else DeletionState.WIPING
    tasks.write_down(work, before, state)
    return goes_on


def _take_step(work: DeletionSlice) -> bool:
    """Do the next thing; False when there is none.

    Whole sessions go first: only then are all keys of messages that are still to come new ones.
    """
    if _do(work, "session", lambda task: remove_some(work, task.key, task.seen)):
        return True
    if person.look_for_speech(work):
        return True
    return any(_do(work, step, carry_out) for step, carry_out in _steps(work))


def _steps(work: DeletionSlice) -> tuple[tuple[str, Callable[[Task], bool]], ...]:
    def expand(task: Task) -> bool:
        shared_messages.expand(work, task.key)
        return True

    def empty_address(task: Task) -> bool:
        person.empty_address(work, task.key)
        return True

    def remove_sender(task: Task) -> bool:
        return person.remove_sender(work, task.subject, task.seen)

    return (
        ("speech", expand),
        ("turn", lambda task: shared_messages.empty_turn(work, TurnId(task.key))),
        ("lines", lambda task: shared_messages.empty_lines(work, task.key)),
        ("notes", lambda task: shared_messages.empty_quoting_notes(work, task.subject)),
        ("blob", lambda task: messages.drop_blob(work, task.subject, _PIECES)),
        ("address", empty_address),
        ("sender", remove_sender),
    )


def _do(work: DeletionSlice, step: str, carry_out: Callable[[Task], bool]) -> bool:
    """Carry out a slice of a step's tasks; False if it has none."""
    for done in range(_AT_ONCE if step in _SHORT else 1):
        task = work.tx.one("next_task", Task, forgetting_id=work.id, step=step)
        if task is None:
            return done > 0
        if carry_out(task):
            work.end_task(step, task.subject)
    return True
