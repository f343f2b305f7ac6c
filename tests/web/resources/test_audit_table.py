"""Audit completeness: what each operation and each command writes to the audit log."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.web.resources.conftest import Template
from tests.web.resources.operation_calls import ask_as
from tests.web.resources.sample_store import Caller, describe, move_in
from tests.web.resources.table import OK, TABLE
from threadline.cli.main import app

JSON_TYPES = {"application/json", "application/problem+json"}
OWN_WORDS = "The transcript shows it."
OWN_PLACE = "It changes how the user finds conversations, and nothing else."
QUESTION = "It changes nothing: it is the first half of a request that is recorded."

OPERATIONS: dict[str, tuple[str, ...] | str] = {
    # Login and accounts
    "log_in_by_password": ("login.failed",),  # login.begun, where the password is right
    "ask_passkey": QUESTION,
    "log_in_by_passkey": "Nobody asked this question; an answer is login.begun or login.failed.",
    "log_out": ("login.ended",),
    "set_password": ("password.set",),
    "prove_by_password": ("login.failed",),  # login.proven, where the password is right
    "ask_proof": QUESTION,
    "prove_by_passkey": "Nobody asked this question; an answer is login.proven or login.failed.",
    "ask_new_passkey": QUESTION,
    "add_passkey": "Nobody asked this question; an answer is passkey.added.",
    "delete_passkey": ("passkey.deleted",),
    "end_other_logins": "There is no other login here; those that are ended are login.ended.",
    "end_login": ("login.ended",),
    "make_token": ("token.made",),
    "end_token": ("token.ended",),
    "make_account": ("account.made",),
    "rename_account": ("account.renamed",),
    "end_account": ("account.ended",),
    "make_login_link": ("link.made",),
    "drop_password": ("password.dropped",),
    "end_logins_of": ("login.ended",),
    # People and platforms
    "plan_forgetting_person": "It changes nothing.",
    "forget_person": ("person.forgotten",),
    "join_senders": ("person.joined",),
    "part_sender": ("person.parted",),
    "rename_person": ("person.renamed",),
    "approve_pairing": ("pairing.approved",),
    "allow_sender": ("pairing.allowed",),
    "revoke_sender": ("pairing.revoked",),
    "retry_delivery": "It sends a reply again that the chat was owed anyway.",
    # Jobs
    "make_job": "A job of one's own.",
    "change_job": ("job.changed",),
    "delete_job": ("job.deleted",),
    "pause_job": ("job.paused",),
    "resume_job": ("job.resumed",),
    "run_job": ("job.run",),
    # Files
    "upload_attachment": OWN_WORDS,
    "download_attachment": "One file of a conversation that the user may read.",
    "export_session": ("session.exported",),
    "export_history": ("history.exported",),
    "import_history": "An empty file; what is imported is history.imported.",
    "make_share": ("share.made",),
    "revoke_share": ("share.revoked",),
    "follow": "It shows live what the user may read page by page.",
    # Conversations
    "begin_session": OWN_WORDS,
    "change_session": OWN_PLACE,  # session.equipped, where it reaches further
    "forget_session": ("session.forgotten",),
    "end_session": OWN_WORDS,
    "take_over": ("session.taken",),
    "hand_back": "Nobody has taken it over; else it is session.handed_back.",
    "mark_read": OWN_PLACE,
    "mark_unread": OWN_PLACE,
    "arrange_sessions": OWN_PLACE,  # session.forgotten, where they are deleted
    "send_message": OWN_WORDS,
    "edit_message": OWN_WORDS,
    "branch_session": OWN_WORDS,
    "undo_turns": OWN_WORDS,
    "redo_turns": OWN_WORDS,
    "retry_turn": OWN_WORDS,
    "compress_session": OWN_WORDS,
    "undo_compaction": OWN_WORDS,
    "give_command": OWN_WORDS,  # commands are recorded as the operations that do the same
    "stop_turn": OWN_WORDS,
    "stop_session": OWN_WORDS,
    "change_queued": OWN_WORDS,
    "unqueue_message": OWN_WORDS,
    "decide_approval": (
        "tool.denied",
    ),  # or tool.approved, and tool.allowed, where it is for always
    "revoke_allowance": "For one conversation, which shows it; what holds always is tool.revoked.",
    "put_draft": OWN_PLACE,
    "delete_draft": OWN_PLACE,
    "make_project": OWN_PLACE,
    "change_project": OWN_PLACE,
    "delete_project": OWN_PLACE,
    # Settings
    "change_settings": ("settings.changed",),
    "reload_settings": ("settings.reloaded",),
    "probe_settings": "It changes nothing: it asks whether a service answers.",
}
"""What the request of `table.py` writes to the audit log, or why nothing."""

OF_BROWSERS = {"log_in_by_password", "log_out", "end_other_logins"}
"""What a token does with them is not what a browser does."""

READS = "It only reads."
COMMANDS: dict[str, tuple[str, ...] | str] = {
    "init": "There is no store yet.",
    "config": ("settings.changed",),
    "serve": ("link.made",),
    "status": READS,
    "chat": "The owner's own conversation; its commands are recorded as in any chat.",
    "search": READS,
    "send": "The message is kept with the conversation.",
    "export": ("history.exported",),
    "import": ("history.imported",),
    "explain": READS,
    "doctor": READS,
    "prune": ("history.pruned",),
    "backup": ("store.backed_up",),
    "restore": ("store.restored",),
    "sessions show": READS,
    "sessions list": READS,
    "sessions stats": READS,
    "sessions title": OWN_PLACE,
    "sessions pin": OWN_PLACE,
    "sessions archive": OWN_PLACE,
    "sessions move": OWN_PLACE,
    "sessions branch": OWN_WORDS,
    "sessions undo": OWN_WORDS,
    "sessions search": READS,
    "sessions export": ("session.exported",),
    "sessions delete": ("session.forgotten",),
    "account list": READS,
    "account add": ("account.made",),
    "account link": ("link.made",),
    "account password": ("password.set",),
    "account end": ("account.ended",),
    "people list": READS,
    "people join": ("person.joined",),
    "people part": ("person.parted",),
    "people rename": ("person.renamed",),
    "pair list": READS,
    "pair approve": ("pairing.approved",),
    "pair allow": ("pairing.allowed",),
    "pair revoke": ("pairing.revoked",),
    "approvals list": READS,
    "approvals revoke": ("tool.revoked",),
    "projects list": READS,
    "projects add": OWN_PLACE,
    "projects change": OWN_PLACE,
    "projects delete": OWN_PLACE,
    "jobs list": READS,
    "jobs add": "A job of one's own.",
    "jobs change": ("job.changed",),
    "jobs show": READS,
    "jobs pause": ("job.paused",),
    "jobs resume": ("job.resumed",),
    "jobs run": ("job.run",),
    "jobs runs": READS,
    "jobs delete": ("job.deleted",),
    "forget session": ("session.forgotten",),
    "forget person": ("person.forgotten",),
    "forget list": READS,
    "forget finish": "It completes what is recorded already.",
}
"""What a command in the terminal writes to the audit log, or why nothing.

`tests/cli/test_audit.py` runs those that write something.
"""


def notable() -> Iterator[str]:
    """List the operations that change something, or answer with a file or a stream."""
    for operations in describe()["paths"].values():
        for method, one in operations.items():
            types = {kind for told in one["responses"].values() for kind in told.get("content", {})}
            if method != "get" or types - JSON_TYPES:
                yield one["operationId"]


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """List all commands of the terminal by their full names."""
    if not hasattr(command, "commands"):
        yield " ".join(path)
        return
    for name, one in command.commands.items():
        yield from commands(one, (*path, name))


def test_every_operation_is_in_the_table() -> None:
    """A new operation says what it writes to the audit log, or why nothing."""
    assert sorted(notable()) == sorted(OPERATIONS)


def test_every_command_is_in_the_table() -> None:
    """A new command of the terminal does, too."""
    assert sorted(commands(typer.main.get_command(app))) == sorted(COMMANDS)


def _caller(operation: str, *callers: Caller) -> Caller | None:
    audience = TABLE[operation].audience
    return next((one for one in callers if audience[one] == OK), None)


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_an_operation_writes_what_the_table_says(
    operation: str, template: Template, tmp_path: Path
) -> None:
    """A browser is recorded with its account, a token also with its key."""
    expected = OPERATIONS[operation]
    acts = expected if isinstance(expected, tuple) else ()
    browser = _caller(operation, Caller.OWNER, Caller.MEMBER)
    token = _caller(operation, Caller.ADMIN, Caller.WRITER, Caller.MEMBER_WRITER)
    assert browser is not None
    if operation in OF_BROWSERS:
        token = None
    for number, caller in enumerate(one for one in (browser, token) if one is not None):
        async with move_in(*template, tmp_path / f"house {number}") as household:
            before = len(await household.store.audit())
            if TABLE[operation].is_served:
                async with household.gateway:
                    status = await ask_as(household, operation, caller)
            else:
                status = await ask_as(household, operation, caller)
            entries = await household.store.audit()
            written = entries[: len(entries) - before]
            key = household.inventory.things.get(f"token of {caller}")

        assert status == TABLE[operation].status
        assert tuple(one.act for one in written) == acts
        for one in written:
            is_known = one.act != "login.failed"
            assert bool(one.account) == is_known
            assert one.token == (key if caller is token else None)
