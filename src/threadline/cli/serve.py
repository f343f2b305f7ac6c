"""`threadline serve`: the gateway and its web server, until somebody ends them."""

import asyncio
from typing import Annotated

import typer

from threadline.cli.identity_argument import Database, Profile


def serve(
    *,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65_535, help="On which port; 0: any that is free."),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Let made-up people chat on made-up platforms.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="With --demo: keep what was said, where it says.")
    ] = False,
    database: Database = None,
    profile: Profile = None,
) -> None:
    """Serve all platforms: take in messages, and send the answers.

    Ctrl-C or SIGTERM lets running answers end for a while (drain_seconds); a second one ends at
    once. What was cut off goes on with the next start. The process ends 10 seconds after that
    time at the latest, whatever an agent does.
    """
    options = {
        "database": database,
        "profile": profile,
        "server.host": host,
        "server.port": None if port is None else str(port),
    }
    if demo:
        from threadline.cli.demo import run_demo

        run_demo(options, keep=keep)
        return
    from threadline.assembly import check_platforms
    from threadline.cli.logs import logged
    from threadline.cli.server_process import run_server
    from threadline.cli.signals import Signals
    from threadline.config.config_source import Source
    from threadline.gateway.garbage_collector import settle_heap

    source = Source(options=options)
    config = source.load()
    check_platforms(config)
    settle_heap()
    source.secrets.update(config.secrets())
    with logged(config.logs, source.secrets), Signals() as signals:
        is_well = asyncio.run(run_server(source, signals))
    if not is_well:
        raise typer.Exit(1)
