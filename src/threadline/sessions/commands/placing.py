"""Commands about platforms, for those who look after them: platforms, sethome."""

from datetime import timedelta

from threadline.core.address import Address
from threadline.core.errors import SENTENCE_LIMIT
from threadline.core.serving import GatewayRow
from threadline.core.text import clean_title
from threadline.sessions.commands.ask import Ask, Reply
from threadline.sessions.gateways import list_gateways
from threadline.sessions.homes import set_home
from threadline.sessions.phrases import ago, span
from threadline.sessions.targets import known_homes
from threadline.sessions.welcome.acting import note_act


def sethome(ask: Ask) -> Reply:
    """Make this chat the home of its platform."""
    return make_home(ask, ask.inbound.address)


def make_home(ask: Ask, at: Address) -> Reply:
    """Make a chat the home of its platform, and write down who wanted that."""
    inbound = ask.inbound
    set_home(ask.tx, at, profile=inbound.profile, now=ask.now)
    note_act(ask.tx, inbound.address, inbound.sender, "home.set", at.platform, now=ask.now)
    return Reply(text=f"Messages that nobody asked for on {at.platform} come here from now on.")


def platforms(ask: Ask) -> Reply:
    """Say which platforms are connected, and where their homes are."""
    lines = [line for gateway in list_gateways(ask.tx) for line in _gateway(ask, gateway)]
    if not lines:
        lines = ["No gateway serves this installation."]
    places = known_homes(ask.tx, ask.inbound.profile, ask.rules.homes)
    lines += [f"Home of {platform}: {_named(home)}." for platform, home in sorted(places.items())]
    return Reply(text="\n".join(lines))


def _gateway(ask: Ask, gateway: GatewayRow) -> list[str]:
    """Say how the platforms of a gateway are, and whether it is still heard of."""
    silent = gateway.is_silent(ask.now)
    heard = f", last heard of {ago(gateway.beat_at, ask.now)}" if silent else ""
    lines = [f"Gateway on {clean_title(gateway.host)}{heard}:"]
    for name, health in sorted(gateway.platforms.items()):
        why = f" ({clean_title(health.error, SENTENCE_LIMIT)})" if health.error else ""
        since = span(max(ask.now - health.since, timedelta(0)))
        lines.append(f"- {clean_title(name)}: {health.state} for {since}{why}")
    return lines


def _named(place: Address) -> str:
    """Name a chat as people know it, else by its id."""
    label = clean_title(place.chat_name or "")
    called = f"“{label}”" if label else clean_title(place.chat) or "its only chat"
    return f"{called}, thread {clean_title(place.thread)}" if place.thread else called
