"""Execute: a command of a message, and the commands that had to wait for a turn."""

from msgspec.structs import replace

from threadline.core.access_level import AccessLevel
from threadline.core.command import Call, WhileRunning
from threadline.core.errors import QueueFull, StorageError, ThreadlineError, sentence_of
from threadline.core.inbound import Inbound
from threadline.core.turn import OwnerId
from threadline.database.port import Database, write_keyed
from threadline.store.authorisation import unchecked
from threadline.store.commands import dispatch
from threadline.store.commands.context import CommandReply, Compress, DeferredCommandResult, Errand
from threadline.store.turns import deferred_commands


async def execute(
    db: Database, inbound: Inbound, call: Call, rank: AccessLevel
) -> CommandReply | None:
    """Carry out a command of a sender with a rank, and create the delivery of its reply.

    A command that has to wait until earlier messages are answered is stored. If it fails, the
    reason is its reply; the same message may try again. Raise `QueueFull` if too much waits
    already. A secret reply is not stored, and the caller sends it. An errand is run and ended by
    the caller. Return None if the message was carried out before.
    """
    try:
        reply = await write_keyed(
            db,
            inbound.message_id,
            dispatch.receive_command,
            inbound,
            call,
            rank=rank,
            owner=db.owner,
        )
    except (StorageError, QueueFull):
        raise
    except ThreadlineError as error:
        why = sentence_of(error)
        return await db.write(dispatch.refuse, inbound, why)
    if reply is not None and call.command.while_running is WhileRunning.STOP:
        # What it stopped may have been what another command waited for.
        return replace(reply, waited=await execute_waiting(db))
    return reply


async def execute_waiting(db: Database) -> list[DeferredCommandResult]:
    """Carry out the commands that need not wait any longer; return what came of each.

    Call it whenever a turn has ended, and after a restart. An errand that one of them leaves is
    run and ended by the caller.
    """
    owners = await db.read(deferred_commands.list_command_owners)
    dead = await db.dead(owners - {db.owner}) if owners else frozenset[OwnerId]()
    done: list[DeferredCommandResult | None] = []
    while due := await db.read(deferred_commands.list_due_commands, dead):
        done += [await _execute_one(db, id, dead) for id in due]
    return [waited for waited in done if waited is not None]


async def _execute_one(
    db: Database, id: int, dead: frozenset[OwnerId]
) -> DeferredCommandResult | None:
    try:
        return await db.write(dispatch.carry_out_waiting, id, owner=db.owner, dead=dead)
    except StorageError:
        raise
    except ThreadlineError as error:
        why = sentence_of(error)
        return await db.write(dispatch.refuse_waiting, id, why)


async def end_errand(db: Database, errand: Errand) -> None:
    """Allow what waits behind an errand to go on: it is done, whatever came of it."""
    if isinstance(errand, Compress) and errand.place is not None:
        await unchecked(db).write(deferred_commands.finish_command, errand.place, db.owner)
