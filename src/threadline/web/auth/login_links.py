"""Login links: what logs somebody in once, as an address that a browser opens."""

from threadline.config.gateway_section import ServerSettings
from threadline.core.account import Account, Actor
from threadline.store import Store
from threadline.web.authentication import hash_secret, new_secret


async def create_login_url(
    store: Store,
    account: Account,
    server: ServerSettings,
    url: str | None = None,
    *,
    by: Actor | None = None,
) -> str:
    """Make a link for an account; it leads to where the server listens, as far as that is known.

    The address that the settings name comes first: whoever is not at this machine needs it.
    """
    secret = new_secret()
    await store.make_link(account.key, hash_secret(secret), by=by)
    return f"{server.url or url or server_address(server)}/login?link={secret}"


def server_address(server: ServerSettings) -> str:
    """Answer where a server with these settings is found on this machine."""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"http://{host}:{server.port}"
