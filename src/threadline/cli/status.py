"""`threadline status`: who serves, and what there is to do."""

import asyncio
from typing import TYPE_CHECKING

from threadline.cli.identity_argument import AsJson, Database
from threadline.cli.output import as_plain, show_text, write_json

if TYPE_CHECKING:
    from threadline.cli.status_report import State


def status(database: Database = None, as_json: AsJson = False) -> None:
    """Say which gateways serve, and what there is to do.

    It also says how their platforms are. It reads the store, so it also answers when nobody serves.
    """
    from threadline.cli.status_report import read_status, render_status
    from threadline.config import load_config

    state: State = asyncio.run(read_status(load_config({"database": database})))
    if as_json:
        write_json(as_plain(state))
    else:
        show_text(render_status(state))
