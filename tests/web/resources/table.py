"""The table: who may ask for what, for every operation of the API."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.web.resources.sample_store import PICTURE, Caller

OK = 0
"""What the operation answers when all is well."""

Audience = Mapping[Caller, int]

_STRANGERS = {Caller.NOBODY: 401, Caller.REVOKED: 401, Caller.ENDED: 401}
_TOKENS = (
    Caller.READER,
    Caller.WRITER,
    Caller.ADMIN,
    Caller.MEMBER_READER,
    Caller.MEMBER_WRITER,
    Caller.OWNER_WRITER,
    Caller.OWNER_ADMIN,
)
_MEMBERS = (Caller.MEMBER, Caller.OTHER, Caller.MEMBER_READER, Caller.MEMBER_WRITER)
_READERS = {Caller.READER: 403, Caller.MEMBER_READER: 403}


def _but(audience: Audience, **changes: int) -> Audience:
    return {**audience, **{Caller(name.replace("_", " ")): code for name, code in changes.items()}}


ANYBODY: Audience = dict.fromkeys(Caller, OK)
KNOWN: Audience = {**ANYBODY, **_STRANGERS}
READ = _but(KNOWN, member_writer=403, owner_writer=403, owner_admin=403)
OWN_READ = _but(READ, other=404)
WRITE = _but({**KNOWN, **_READERS}, owner_admin=403)
OWN_WRITE = _but(WRITE, other=404)
EXCHANGE = _but(WRITE, member_writer=403, owner_writer=403)
"""Who changes something, and is told words that stood there before."""
OWN_EXCHANGE = _but(EXCHANGE, other=404)
OWNER_READ: Audience = {**READ, **dict.fromkeys(_MEMBERS, 403)}
OWNER_WRITE: Audience = {**WRITE, **dict.fromkeys(_MEMBERS, 403)}
HIDDEN_READ: Audience = _but(READ, member=404, other=404, member_reader=404)
"""What is an owner's, and is not there for members."""
HIDDEN_WRITE = _but(WRITE, member=404, other=404, member_writer=404)
HIDDEN_EXCHANGE = _but(HIDDEN_WRITE, member_writer=403, owner_writer=403)
ADMIN = _but(OWNER_WRITE, writer=403, owner_writer=403, owner_admin=OK)
ADMIN_AT_HOME = _but(ADMIN, admin=403, owner_admin=403)
JOBS = _but(WRITE, writer=403, owner_writer=403)
"""A member's own jobs; an owner's are those of everybody, which is to administer."""
OWN_JOBS = _but(JOBS, other=404)
OWN_JOBS_EXCHANGE = _but(OWN_JOBS, member_writer=403)
AT_HOME: Audience = {**KNOWN, **dict.fromkeys(_TOKENS, 403)}
OWN_AT_HOME = _but(AT_HOME, owner=404, other=404)
MANAGE = _but(EXCHANGE, writer=403, owner_admin=OK)
OWN_MANAGE = _but(MANAGE, owner=404, other=404, admin=404, owner_admin=404)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One operation: who may ask for it, and how it is asked for.

    What begins with `$` in a path, query or body is the name of something in the household.
    """

    audience: Audience
    status: int = 200
    path: Mapping[str, str | int] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_served: bool = False
    """Whether it needs a gateway that serves."""

    def expected(self, caller: Caller) -> int:
        """Answer the status that a caller has to be told."""
        return self.audience[caller] or self.status


def _talk(audience: Audience, *, status: int = 200, id: str = "$talk", body: object = None) -> Row:
    """Ask for something of a conversation of the member."""
    return Row(audience=audience, status=status, path={"id": id}, body=body)


def _line(audience: Audience, *, status: int = 200, seq: int = 2, body: object = None) -> Row:
    return Row(audience=audience, status=status, path={"id": "$talk", "seq": seq}, body=body)


_ANY = {"If-Match": "*"}
_SENDER = {"sender": "telegram:ada"}

TABLE: Mapping[str, Row] = {
    # Login and accounts
    "log_in_by_password": Row(
        audience=ANYBODY, status=403, body={"name": "Mia", "password": "is it this one?"}
    ),
    "ask_passkey": Row(audience=ANYBODY),
    "log_in_by_passkey": Row(
        audience=ANYBODY, status=403, body={"challenge": "x", "credential": {"id": "x"}}
    ),
    "log_out": Row(audience=KNOWN, status=204),
    "read_me": Row(audience=KNOWN),
    "set_password": Row(audience=AT_HOME, status=204, body={"new": "a bridge of sighs"}),
    "prove_by_password": Row(audience=AT_HOME, status=403, body={"password": "is it this one?"}),
    "ask_proof": Row(audience=AT_HOME),
    "prove_by_passkey": Row(
        audience=AT_HOME, status=403, body={"challenge": "x", "credential": {"id": "x"}}
    ),
    "list_passkeys": Row(audience=AT_HOME),
    "ask_new_passkey": Row(audience=AT_HOME),
    "add_passkey": Row(
        # Nobody asked for this one: who may add some is told so.
        audience=AT_HOME,
        status=403,
        body={"name": "phone", "challenge": "x", "credential": {}},
    ),
    "delete_passkey": Row(audience=OWN_AT_HOME, status=204, path={"key": "$passkey of member"}),
    "list_logins": Row(audience=READ),
    "end_other_logins": Row(audience=MANAGE),
    "end_login": Row(audience=OWN_MANAGE, status=204, path={"key": "$login of member"}),
    "list_tokens": Row(audience=READ),
    "make_token": Row(
        # No token makes one that can do more.
        audience=_but(MANAGE, owner_admin=403),
        status=201,
        body={"name": "backup", "scopes": ["read"]},
    ),
    "end_token": Row(audience=OWN_MANAGE, status=204, path={"key": "$token of member reader"}),
    "list_accounts": Row(audience=ADMIN),
    "make_account": Row(audience=ADMIN, status=201, body={"name": "Nora"}),
    "read_account": Row(audience=ADMIN, path={"key": "$member"}),
    "rename_account": Row(
        audience=ADMIN, path={"key": "$member"}, body={"name": "Maria"}, headers=_ANY
    ),
    "end_account": Row(audience=ADMIN, status=204, path={"key": "$other"}),
    "make_login_link": Row(audience=ADMIN_AT_HOME, status=201, path={"key": "$member"}),
    "drop_password": Row(audience=ADMIN_AT_HOME, status=204, path={"key": "$member"}),
    "end_logins_of": Row(audience=ADMIN, path={"key": "$member"}),
    "list_audit": Row(audience=ADMIN),
    # The feed
    "read_state": Row(audience=READ, query={"sessions": "$talk"}),
    "follow": Row(audience=READ, query={"live": "$talk"}),
    # People and platforms
    "list_profiles": Row(audience=READ),
    "list_people": Row(audience=ADMIN),
    "list_senders": Row(audience=ADMIN),
    "list_forgettings": Row(audience=ADMIN),
    "plan_forgetting_person": Row(audience=ADMIN, body=_SENDER),
    "forget_person": Row(audience=ADMIN, body=_SENDER),
    "join_senders": Row(audience=ADMIN, body={"one": "telegram:ada", "other": "telegram:eve"}),
    "part_sender": Row(audience=ADMIN, body=_SENDER),
    "read_person": Row(audience=ADMIN, path={"key": "$person"}),
    "rename_person": Row(
        audience=ADMIN, path={"key": "$person"}, body={"name": "Ada"}, headers=_ANY
    ),
    "list_waiting": Row(audience=ADMIN),
    "approve_pairing": Row(audience=ADMIN, status=201, body={"code": "$code"}),
    "list_grants": Row(audience=ADMIN),
    "allow_sender": Row(audience=ADMIN, status=201, body={"sender": "telegram:dan"}),
    "revoke_sender": Row(audience=ADMIN, status=204, query={"sender": "telegram:cy"}),
    "list_platforms": Row(audience=ADMIN),
    "list_homes": Row(audience=ADMIN),
    "list_dead_targets": Row(audience=ADMIN),
    "list_deliveries": Row(audience=OWN_READ, query={"session": "$talk"}),
    "list_lost_deliveries": Row(audience=ADMIN),
    "retry_delivery": Row(audience=HIDDEN_EXCHANGE, path={"id": "$lost"}),
    # Jobs and usage
    "list_jobs": Row(audience=READ),
    "make_job": Row(audience=JOBS, status=201, body={"prompt": "x", "schedule": "every day 9:00"}),
    "list_times": Row(audience=READ, query={"schedule": "every day 9:00"}),
    "read_job": _talk(OWN_READ, id="$job"),
    "change_job": Row(
        audience=OWN_JOBS_EXCHANGE, path={"id": "$job"}, body={"name": "x"}, headers=_ANY
    ),
    "delete_job": Row(audience=OWN_JOBS, status=204, path={"id": "$job"}, headers=_ANY),
    "pause_job": _talk(OWN_JOBS_EXCHANGE, id="$job"),
    "resume_job": _talk(OWN_JOBS_EXCHANGE, id="$paused job"),
    "run_job": _talk(OWN_JOBS, status=202, id="$job"),
    "list_runs": _talk(OWN_READ, id="$job"),
    "list_models": Row(audience=READ),
    "sum_usage": Row(audience=OWN_READ, query={"session": "$talk"}),
    "list_caps": Row(audience=OWN_READ, query={"session": "$talk"}),
    # Files
    "upload_attachment": Row(audience=WRITE, status=201, content=PICTURE),
    "download_attachment": Row(
        audience=OWN_READ, path={"hash": "$picture"}, query={"session": "$talk"}
    ),
    "export_session": Row(audience=OWN_READ, path={"session_id": "$talk"}),
    "export_history": Row(audience=READ),
    "import_history": Row(audience=ADMIN, query={"dry_run": "true"}, content=b"", status=422),
    "list_shares": Row(audience=OWN_READ, query={"session": "$talk"}),
    "make_share": Row(audience=OWN_EXCHANGE, status=201, body={"session": "$talk"}),
    "revoke_share": Row(audience=OWN_WRITE, status=204, path={"id": "$share"}),
    # Conversations
    "list_sessions": Row(audience=READ),
    "count_sessions": Row(audience=OWNER_READ),
    "begin_session": Row(audience=WRITE, status=201, body={"text": "hello"}),
    "read_session": _talk(OWN_READ),
    "change_session": Row(
        audience=OWN_EXCHANGE, path={"id": "$talk"}, body={"title": "Seven"}, headers=_ANY
    ),
    "forget_session": Row(audience=OWN_WRITE, path={"id": "$talk"}, headers=_ANY),
    "read_policy": _talk(OWN_READ),
    "plan_forgetting": _talk(OWN_READ),
    "end_session": _talk(OWN_EXCHANGE),
    "take_over": _talk(HIDDEN_EXCHANGE, id="$distant"),
    "hand_back": _talk(HIDDEN_EXCHANGE, id="$distant"),
    "read_streaming": _talk(OWN_READ),
    "mark_read": _talk(OWN_WRITE, body={}),
    "mark_unread": _talk(OWN_WRITE),
    "count_rounds": _talk(OWN_READ),
    "arrange_sessions": Row(audience=WRITE, body={"ids": ["$talk"], "action": "pin"}),
    "list_messages": _talk(OWN_READ),
    "send_message": _talk(OWN_WRITE, status=201, body={"text": "and now?"}),
    "read_message": _line(OWN_READ),
    "list_revisions": _line(OWN_READ),
    "edit_message": _line(OWN_EXCHANGE, status=201, body={"text": "the number 8"}),
    "branch_session": _line(OWN_EXCHANGE, status=201, body={}),
    "list_cuts": _talk(OWN_READ),
    "undo_turns": _talk(OWN_EXCHANGE, body={}),
    "redo_turns": _talk(OWN_WRITE, id="$undone"),
    "retry_turn": _talk(OWN_WRITE, status=201),
    "compress_session": _talk(OWN_EXCHANGE, body={}),
    "undo_compaction": _talk(OWN_EXCHANGE, id="$compacted"),
    "list_commands": Row(audience=READ),
    "give_command": _talk(OWN_EXCHANGE, body={"line": "/title Seven"}),
    "read_context": _talk(OWN_READ),
    "list_turns": _talk(OWN_READ),
    "read_turn": Row(audience=OWN_READ, path={"turn_id": "$turn"}),
    "read_reply": Row(audience=OWN_READ, path={"turn_id": "$turn"}),
    "stop_turn": Row(audience=OWN_WRITE, path={"turn_id": "$turn of asking"}),
    "stop_session": _talk(OWN_WRITE, id="$asking"),
    "list_queue": _talk(OWN_READ, id="$waiting"),
    "change_queued": Row(
        # Nobody puts words into somebody else's mouth, not even an owner.
        audience=_but(OWN_EXCHANGE, owner=403, writer=403, admin=403),
        path={"id": "$waiting", "key": "$queued"},
        body={"text": "or this"},
        headers=_ANY,
    ),
    "unqueue_message": Row(audience=OWN_WRITE, path={"id": "$waiting", "key": "$queued"}),
    "list_approvals": Row(audience=READ),
    "decide_approval": Row(
        audience=OWN_WRITE,
        path={"turn_id": "$turn of asking"},
        body={"approval": "denied", "asked_at": "$asked"},
    ),
    "list_allowances": Row(audience=OWN_READ, query={"session": "$allowed"}),
    "revoke_allowance": Row(audience=OWN_EXCHANGE, path={"key": "$allowance"}),
    "list_drafts": Row(audience=READ, query={"device": "phone"}),
    "put_draft": Row(
        audience=OWN_EXCHANGE, query={"device": "phone", "session": "$talk"}, body={"text": "I"}
    ),
    "delete_draft": Row(
        audience=OWN_WRITE, status=204, query={"device": "phone", "session": "$talk"}
    ),
    "find_messages": Row(audience=READ, query={"text": "number"}),
    "read_lineage": _talk(OWN_READ),
    "read_stitched": _talk(OWN_READ),
    "read_minimap": _talk(OWN_READ),
    "list_projects": Row(audience=READ),
    "make_project": Row(audience=OWNER_WRITE, status=201, body={"name": "House"}),
    "read_project": Row(audience=HIDDEN_READ, path={"key": "$project"}),
    "change_project": Row(
        audience=HIDDEN_EXCHANGE, path={"key": "$project"}, body={"name": "Yard"}, headers=_ANY
    ),
    "delete_project": Row(
        audience=HIDDEN_WRITE, status=204, path={"key": "$project"}, headers=_ANY
    ),
    # Settings
    "list_all_settings": Row(audience=ADMIN),
    "change_settings": Row(
        audience=ADMIN, body={"set": {"spend.day": 5}}, headers=_ANY, is_served=True
    ),
    "reload_settings": Row(audience=ADMIN, is_served=True),
    "probe_settings": Row(audience=ADMIN, body={"names": ["platform pigeon"]}),
}
"""Every operation by its id."""
