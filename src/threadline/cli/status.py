"""`threadline status`: who serves, and what there is to do."""

import asyncio
from typing import TYPE_CHECKING

from threadline.cli.options import AsJson, Database
from threadline.cli.screen import as_plain, say, write_json

if TYPE_CHECKING:
    from threadline.cli.state import State


def status(database: Database = None, as_json: AsJson = False) -> None:
    """Say which gateways serve, and what there is to do.

    It also says how their platforms are. It reads the store, so it also answers when nobody serves.
    """
    from threadline.cli.state import page, read_state
    from threadline.config import load_config

    state: State = asyncio.run(read_state(load_config({"database": database})))
    if as_json:
        write_json(as_plain(state))
    else:
        say(page(state))
