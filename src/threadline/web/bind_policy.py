"""Bind policy: a server may be reached from other machines only if strangers cannot get in."""

import ipaddress

from threadline.config.gateway_section import ServerSettings
from threadline.core.errors import ConfigError
from threadline.store import Store


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches what listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_https(server: ServerSettings) -> None:
    """Refuse to listen beyond this machine without https before it.

    In plain http everybody on the way reads the cookie, so a login alone would not be enough.
    """
    if not is_loopback(server.host) and not server.is_https:
        raise ConfigError(
            f"server.host cannot be {server.host!r} without https",
            hint="Name the address of a reverse proxy in server.url, such as "
            "https://chat.example.org, or listen on 127.0.0.1",
        )


async def check_exposure(server: ServerSettings, store: Store) -> None:
    """Refuse to listen beyond this machine without https before it and a login behind it."""
    require_https(server)
    if is_loopback(server.host):
        return
    owner = await store.owner_account()
    if not owner.has_password and not await store.passkeys(owner.key):
        raise ConfigError(
            f"server.host cannot be {server.host!r} as long as the owner has no password",
            hint="Set one: threadline account password",
        )
