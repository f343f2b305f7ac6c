"""Commands about who somebody is: link, unlink, whoami."""

from threadline.core.person import CODE_VALID, Identity
from threadline.core.route import canonical_sender
from threadline.core.text import clean_title
from threadline.sessions.commands.ask import Ask, Reply
from threadline.sessions.people.aliases import resolve
from threadline.sessions.people.codes import link as join_by_code
from threadline.sessions.people.codes import make_link_code
from threadline.sessions.people.parting import unlink as part
from threadline.sessions.people.persons import person_of
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
            text=f"Send this from the other app within {span(CODE_VALID)}: /link {code.code}",
            is_secret=True,
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


def whoami(ask: Ask) -> Reply:
    """Say as whom the asker is known here, and where their words go; nobody else's ids."""
    address, sender = resolve(ask.tx, ask.inbound.address, ask.inbound.sender)
    id = canonical_sender(address.platform, sender)
    called = clean_title(sender.name or "")
    who = f"You are {clean_title(id) if id else 'nobody known by an id'} on {address.platform}"
    lines = [
        f"{who}{f', called “{called}”' if called else ''}.",
        f"You are here as: {ask.rank}.",
        *_linked(ask, address.platform, id),
        f"What you say here goes to {ask.session or ask.explanation().route}.",
    ]
    return Reply(text="\n".join(lines))


def _linked(ask: Ask, platform: str, id: str | None) -> list[str]:
    """Name the apps in which the asker is the same person, but not by which ids."""
    person = None if not id else person_of(ask.tx, Identity(platform=platform, id=id))
    if person is None:
        return ["You are linked with no other app."]
    apps = sorted(
        known.identity.platform
        for known in person.senders
        if (known.identity.platform, known.identity.id) != (platform, id)
    )
    return [f"You are the same person on: {', '.join(apps)}."]
