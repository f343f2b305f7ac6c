"""Usage export: usage, export, forget."""

from decimal import Decimal

from threadline.core.account import Actor
from threadline.core.deletion import DeletionPreview
from threadline.core.errors import Invalid, Refused
from threadline.core.export_format.file_records import ExportFormat
from threadline.core.person import Identity, Viewer
from threadline.core.route import canonical_sender
from threadline.core.session import SessionId
from threadline.core.usage import CostStatus, Usage
from threadline.core.validation import clean_title
from threadline.database.port import expect
from threadline.store.accounts.accounts import find_actor, note_act
from threadline.store.commands.context import CommandContext, CommandReply, Export, Forget
from threadline.store.deletion import preview
from threadline.store.formatting import count
from threadline.store.people.visibility import OwnedSession, asker_keys
from threadline.store.usage import usage_of_session


def usage(ask: CommandContext) -> CommandReply:
    """Say what the conversation has spent, by model and task."""
    spent = usage_of_session(ask.tx, ask.must_be_here())
    if not spent:
        return CommandReply(text="This conversation has spent nothing.")
    lines = [_spent(one) for one in spent]
    if len(spent) > 1:
        costs = [one.cost for one in spent if one.cost is not None]
        lines.append(f"Together: {_price(sum(costs, Decimal(0))) if costs else 'cost unknown'}.")
    return CommandReply(text="\n".join(lines))


def _spent(one: Usage) -> str:
    cached = f" ({one.cache_read_tokens:,} from the cache)" if one.cache_read_tokens else ""
    about = "about " if one.cost_status is CostStatus.ESTIMATED else ""
    cost = "cost unknown" if one.cost is None else f"{about}{_price(one.cost)}"
    task = "" if one.task == "turn" else f" for {one.task}"
    return (
        f"{one.model}{task}: {one.input_tokens:,} tokens in{cached},"
        f" {one.output_tokens:,} out; {cost}."
    )


def _price(cost: Decimal) -> str:
    return f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"


def export(ask: CommandContext) -> CommandReply:
    """Write the conversation to a file."""
    written = ask.argument.lower() or ExportFormat.MARKDOWN
    if written not in list(ExportFormat):
        raise Invalid(
            f"“{clean_title(ask.argument)}” is not a format",
            hint=f"One of: {', '.join(ExportFormat)}",
        )
    errand = Export(session_id=ask.must_be_here(), format=ExportFormat(written))
    if ask.session is None:  # on a screen it is recorded when the file is downloaded
        said = ask.inbound
        note_act(
            ask.tx,
            said.address,
            said.sender,
            "session.exported",
            errand.session_id,
            token=said.token,
        )
    return CommandReply(text="Writing it down.", errand=errand)


def forget(ask: CommandContext) -> CommandReply:
    """Show what would go, and let it go once that was confirmed."""
    what, _, sure = ask.argument.lower().partition(" ")
    if what not in {"this", "me"} or sure.strip() not in {"", "yes"}:
        raise Invalid(
            "Say what to forget: this conversation, or everything of yours",
            hint="/forget this, or /forget me",
        )
    is_sure = bool(sure.strip())
    return (
        _forget_this(ask, is_sure=is_sure) if what == "this" else _forget_me(ask, is_sure=is_sure)
    )


def _forget_this(ask: CommandContext, *, is_sure: bool) -> CommandReply:
    id = ask.must_be_here()
    _require_own(ask, id)
    plan = preview.plan_sessions(ask.tx, [id])
    if not is_sure:
        return _confirm(plan, "this")
    ask.stop()
    begun = preview.begin_sessions(ask.tx, [id], by=_actor(ask))
    # An answer that is kept would be one more thing to forget.
    return CommandReply(
        text="Forgetting this conversation.", errand=Forget(id=begun), is_secret=True
    )


def _forget_me(ask: CommandContext, *, is_sure: bool) -> CommandReply:
    who = canonical_sender(ask.inbound.address.platform, ask.inbound.sender)
    if who is None:
        raise Refused("It is not known who you are here, so nothing can be shown to be yours")
    identity = Identity(platform=ask.inbound.address.platform, id=who)
    plan = preview.plan_person(ask.tx, identity)
    if not is_sure:
        return _confirm(plan, "me")
    begun = preview.begin_person(ask.tx, identity, by=_actor(ask))
    return CommandReply(
        text="Forgetting everything of yours.", errand=Forget(id=begun), is_secret=True
    )


def _actor(ask: CommandContext) -> Actor | None:
    """Tell with which account somebody forgets; in the chats of platforms nobody has one."""
    said = ask.inbound
    return find_actor(ask.tx, said.address.platform, said.sender.id, said.token)


def _require_own(ask: CommandContext, id: SessionId) -> None:
    """Refuse to let one person delete what several said."""
    inbound = ask.inbound
    asker = Viewer(address=inbound.address, sender=inbound.sender, profile=inbound.profile)
    if (
        expect(ask.tx, "read_owner", OwnedSession, id=id).sender_key
        not in asker_keys(ask.tx, asker).sender_keys
    ):
        raise Refused(
            "This conversation is not yours alone",
            id=id,
            hint="/forget me removes what you said in it",
        )


def _confirm(plan: DeletionPreview, what: str) -> CommandReply:
    gone = f"{count(len(plan.sessions), 'conversation')} with {count(plan.messages, 'message')}"
    files = f" and {count(plan.attachments, 'attachment')}" if plan.attachments else ""
    also = ", and what you said in conversations of others" if what == "me" else ""
    branches = ""
    if plan.branches:
        branches = " Its branches would lose the part that they share with it."
    return CommandReply(
        text=f"This would delete {gone}{files}{also}, for good.{branches}"
        f" To do it, send /forget {what} yes."
    )
