"""Commands about platforms, for those who look after them: platforms, sethome."""

from datetime import timedelta

from threadline.core.address import Address
from threadline.core.errors import SENTENCE_LIMIT
from threadline.core.gateway_status import GatewayRow
from threadline.core.validation import clean_title
from threadline.store.accounts.accounts import note_act
from threadline.store.commands.context import CommandContext, CommandReply
from threadline.store.deliveries.targets import known_homes, set_home
from threadline.store.formatting import ago, describe_server, span
from threadline.store.gateways import list_gateways


def sethome(ask: CommandContext) -> CommandReply:
    """Make this chat the home of its platform."""
    return make_home(ask, ask.inbound.address)


def make_home(ask: CommandContext, at: Address) -> CommandReply:
    """Make a chat the home of its platform, and write down who wanted that."""
    inbound = ask.inbound
    set_home(ask.tx, at, profile=inbound.profile)
    note_act(ask.tx, inbound.address, inbound.sender, "home.set", at.platform, token=inbound.token)
    return CommandReply(
        text=f"Messages that nobody asked for on {at.platform} come here from now on."
    )


def platforms(ask: CommandContext) -> CommandReply:
    """Say which platforms are connected, and where their homes are."""
    lines = [line for gateway in list_gateways(ask.tx) for line in _gateway(ask, gateway)]
    if not lines:
        lines = ["No gateway serves this installation."]
    places = known_homes(ask.tx, ask.inbound.profile)
    lines += [f"Home of {platform}: {_named(home)}." for platform, home in sorted(places.items())]
    return CommandReply(text="\n".join(lines))


def _gateway(ask: CommandContext, gateway: GatewayRow) -> list[str]:
    """Say how the platforms of a gateway are, and whether it is still heard of."""
    silent = gateway.is_silent(ask.tx.now)
    heard = f", last heard of {ago(gateway.beat_at, ask.tx.now)}" if silent else ""
    lines = [f"Gateway on {clean_title(gateway.host)}{heard}:"]
    for name, health in sorted(gateway.platforms.items()):
        why = f" ({clean_title(health.error, SENTENCE_LIMIT)})" if health.error else ""
        since = span(max(ask.tx.now - health.since, timedelta(0)))
        lines.append(f"- {clean_title(name)}: {health.state} for {since}{why}")
    for name, server in sorted(gateway.servers.items()):
        since = span(max(ask.tx.now - server.since, timedelta(0)))
        told = f"- MCP server {clean_title(name)}: {server.state} for {since}"
        lines.append(told + describe_server(server, ask.tx.now))
    return lines


def _named(place: Address) -> str:
    """Name a chat as people know it, else by its id."""
    label = clean_title(place.chat_name or "")
    called = f"“{label}”" if label else clean_title(place.chat) or "its only chat"
    return f"{called}, thread {clean_title(place.thread)}" if place.thread else called
