"""Link: link, unlink, whoami."""

import re

from threadline.core.address import Address, Sender
from threadline.core.errors import Refused
from threadline.core.person import CODE_VALID, Identity
from threadline.core.platform import Choice
from threadline.core.route import canonical_sender
from threadline.core.safe_names import one_line
from threadline.core.validation import clean_title
from threadline.store.commands.context import CommandContext, CommandReply
from threadline.store.formatting import count, span
from threadline.store.people.aliases import resolve_aliases
from threadline.store.people.persons import person_of
from threadline.store.person_links.link_codes import (
    Linking,
    LinkOutcome,
    claim_code,
    confirm_link,
    find_offer,
    make_link_code,
    refuse_link,
    void_code,
)
from threadline.store.person_links.unlink import unlink as part

_YES = re.compile(r"yes(?: +([0-9a-f]+))?")
_PLAIN = str.maketrans(dict.fromkeys("()[]<>`*_~", " "))
"""What could style a name, or look like the id behind it."""


def link(ask: CommandContext) -> CommandReply:
    """Show a code, take one that was shown in another app, or confirm what it leads to.

    Who sends a code is told who made it, and confirms. Where one side can log in to the web app,
    the other side is told the same, and confirms, too.
    """
    inbound = ask.inbound
    here: tuple[Address, Sender] = (inbound.address, inbound.sender)
    answer = ask.argument.strip().lower()
    if ask.is_overheard and ask.argument:
        # No error, as the code has to stay deleted.
        void_code(ask.tx, ask.argument, profile=inbound.profile)
        hint = "If it was a code, it is not valid any more. Send /link in a private chat"
        return CommandReply(text=str(Refused("Others could read it here", hint=hint)))
    if answer == "no":
        was_asked = refuse_link(ask.tx, *here)
        return CommandReply(
            text="Nothing was linked." if was_asked else "There was nothing to link."
        )
    if (yes := _YES.fullmatch(answer)) is not None:
        return _told(confirm_link(ask.tx, *here, yes[1] or ""))
    if not ask.argument:
        offer = find_offer(ask.tx, *here)
        if offer.outcome is LinkOutcome.OFFERED:
            return _told(offer)
        code = make_link_code(ask.tx, inbound.address, inbound.sender, profile=inbound.profile)
        return CommandReply(
            text=f"Send this from the other app within {span(CODE_VALID)}: /link {code.code}",
            is_secret=True,
        )
    return _told(claim_code(ask.tx, *here, ask.argument, profile=inbound.profile))


def _told(linking: Linking) -> CommandReply:
    """Return what to say about a link; a refusal is not raised, as wrong codes are counted."""
    refusal = linking.refusal()
    if refusal is not None:
        return CommandReply(text=str(refusal))
    name = clean_title(one_line(linking.other_name or "").translate(_PLAIN))
    other = f"{f'“{name}” ' if name else ''}({clean_title(str(linking.other))})"
    if linking.outcome is LinkOutcome.LINKED:
        return CommandReply(text=f"Your accounts are linked: you are one person with {other} now.")
    if linking.outcome is LinkOutcome.WAITING:
        text = f"Confirmed here. Now send /link as {other}, and confirm it there, too."
        return CommandReply(text=text)
    return CommandReply(
        text=f"The other side is {other}. Once linked you are one person: from both sides all"
        " conversations of both can be read, continued, exported and deleted, and spending counts"
        " together. Send /link yes only if that is you, or /link no.",
        choices=(
            Choice(label="Link", says=f"/link yes {linking.mark}"),
            Choice(label="Do not link", says="/link no"),
        ),
    )


def unlink(ask: CommandContext) -> CommandReply:
    """Be a person of one's own again in this app."""
    parting = part(ask.tx, ask.inbound.address, ask.inbound.sender)
    if parting is None:
        return CommandReply(text="You were not linked with anybody.")
    ended = count(len(parting.ended), "conversation")
    what = f" {ended} that you had together ended." if parting.ended else ""
    return CommandReply(text=f"You are a person of your own here again.{what}")


def whoami(ask: CommandContext) -> CommandReply:
    """Say as whom the asker is known here, and where their words go; nobody else's ids."""
    address, sender = resolve_aliases(ask.tx, ask.inbound.address, ask.inbound.sender)
    id = canonical_sender(address.platform, sender)
    called = clean_title(sender.name or "")
    who = f"You are {clean_title(id) if id else 'nobody known by an id'} on {address.platform}"
    lines = [
        f"{who}{f', called “{called}”' if called else ''}.",
        f"You are here as: {ask.rank}.",
        *_linked(ask, address.platform, id),
        f"What you say here goes to {ask.session or ask.explanation().route}.",
    ]
    return CommandReply(text="\n".join(lines))


def _linked(ask: CommandContext, platform: str, id: str | None) -> list[str]:
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
