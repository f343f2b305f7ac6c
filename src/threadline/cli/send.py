"""`threadline send`: words and files for a target, carried by whichever gateway serves."""

import mimetypes
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.files import read_pieces
from threadline.cli.identity_argument import AsJson, Database, Profile
from threadline.cli.output import as_plain, show_text, write_json
from threadline.cli.shell_completion import complete_target
from threadline.cli.store_context import in_store
from threadline.core.message import Attachment, MediaKind
from threadline.core.target import target_of
from threadline.core.validation import checked_text

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened
    from threadline.store import Store
    from threadline.store.deliveries.targets import Sent

_UNKNOWN = "application/octet-stream"


def send(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="local, all, a platform, platform:chat, or a list.",
            autocompletion=complete_target,
        ),
    ],
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="The words; - reads them.")] = "",
    *,
    files: Annotated[
        list[str] | None, typer.Option("--file", "-f", metavar="PATH", help="A file to attach.")
    ] = None,
    database: Database = None,
    profile: Profile = None,
    as_json: AsJson = False,
) -> None:
    """Send words, and perhaps files, to a target."""
    from threadline.cli.platform_names import read_platform_names
    from threadline.store.deliveries.targets import TargetContext, send_words
    from threadline.store.gateways import list_live_gateways
    from threadline.store.turns.pseudonyms import reveal_targets

    settings = {"database": database, "profile": profile}
    around = read_platform_names(settings)
    words = sys.stdin.read() if text == "-" else text

    async def act(opened: "Opened") -> "tuple[Sent, bool]":
        store = opened.store
        attachments = [await _store_file(store, path) for path in files or ()]
        owed = await store.database.write(
            send_words,
            await reveal_targets(store.database, target),
            checked_text(words, "text"),
            TargetContext(profile=opened.profile, origin=None, platforms=await around.known(store)),
            attachments=tuple(attachments),
        )
        return owed, bool(await list_live_gateways(store.database))

    owed, is_served = in_store(settings, act, make=True)
    if as_json:
        write_json({"is_served": is_served, "sent": _plain(owed), "problems": owed.problems})
        return
    for id, address in owed.deliveries:
        show_text(f"Owed to {target_of(address)} (delivery {id}).")
    for problem in owed.problems:
        show_text(problem)
    if not is_served:
        show_text(
            "No gateway serves just now; the next one sends it. `threadline serve` starts one."
        )


def _plain(owed: "Sent") -> list[dict[str, object]]:
    return [
        {"delivery": id, "target": str(target_of(address)), "address": as_plain(address)}
        for id, address in owed.deliveries
    ]


async def _store_file(store: "Store", path: str) -> Attachment:
    from threadline.store.blobs import store_blob

    data = b"".join([chunk async for chunk in read_pieces(path)])
    media_type = mimetypes.guess_type(path)[0] or _UNKNOWN
    kinds = {"image": MediaKind.IMAGE, "audio": MediaKind.AUDIO}
    kind = kinds.get(media_type.partition("/")[0], MediaKind.FILE)
    return await store_blob(store.database, data, media_type, kind, Path(path).name)
