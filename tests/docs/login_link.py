"""What a server says when it is up: the link that logs in."""

import re

from tests.cli.server_process import Server


def link_of(server: Server) -> str:
    """Answer the link that a server shows; it must be up."""
    found = re.search(r"http://\S+/login\?link=\S+", server.seen)
    assert found is not None, server.seen
    return found[0]
