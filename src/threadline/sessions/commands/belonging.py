"""Commands about who somebody is: link, unlink."""

from threadline.core.errors import Invalid
from threadline.core.person import CODE_VALID
from threadline.sessions.commands.ask import Ask, Reply
from threadline.sessions.people.codes import link as join_by_code
from threadline.sessions.people.codes import make_link_code
from threadline.sessions.people.parting import unlink as part
from threadline.sessions.phrases import count, span


def link(ask: Ask) -> Reply:
    """Show a code, or take one that was shown in another app."""
    inbound = ask.inbound
    if not ask.argument:
        code = make_link_code(
            ask.tx,
            inbound.address,
            inbound.sender,
            profile=inbound.profile,
            now=ask.now,
            new_code=ask.new_code,
        )
        return Reply(
            text=f"Send this from the other app within {span(CODE_VALID)}: /link {code.code}"
        )
    linking = join_by_code(
        ask.tx,
        inbound.address,
        inbound.sender,
        ask.argument,
        profile=inbound.profile,
        now=ask.now,
    )
    refusal = linking.refusal()
    # A wrong code has to be counted, so that it is told and not raised.
    return Reply(text="You are one person here and there now." if refusal is None else str(refusal))


def unlink(ask: Ask) -> Reply:
    """Be a person of one's own again in this app."""
    if ask.argument:
        raise Invalid("/unlink takes nothing after it")
    parting = part(
        ask.tx,
        ask.inbound.address,
        ask.inbound.sender,
        rules=ask.rules,
        now=ask.now,
        new_id=ask.new_id,
    )
    if parting is None:
        return Reply(text="You were not linked with anybody.")
    ended = count(len(parting.ended), "conversation")
    what = f" {ended} that you had together ended." if parting.ended else ""
    return Reply(text=f"You are a person of your own here again.{what}")
