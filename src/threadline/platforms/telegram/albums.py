"""Albums: Telegram brings each picture of one as a message; here they are one again."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from threadline.core.message import Attachment

MOST_PARTS = 10
"""Messages of which an album is made, at the most."""
_REMEMBERED = 500


class AlbumItem(Struct, frozen=True, kw_only=True):
    """What one message brings: words, and files that are kept."""

    words: str = ""
    files: tuple[Attachment, ...] = ()


class Album(Struct, frozen=True, kw_only=True):
    """All that is known of an album: what each of its messages brings, in their order."""

    shares: Mapping[int, AlbumItem]

    @property
    def id(self) -> int:
        """The message that stands for the whole."""
        return min(self.shares)

    @property
    def whole(self) -> AlbumItem:
        """Everything that its messages bring."""
        ordered = [self.shares[n] for n in sorted(self.shares)]
        return AlbumItem(
            words="\n".join(share.words for share in ordered if share.words),
            files=tuple(file for share in ordered for file in share.files),
        )


class Albums:
    """Remembers the latest albums, so that a part that comes late, or changes, finds its place."""

    def __init__(self) -> None:
        """Begin without any."""
        self._known: OrderedDict[tuple[int, str], Album] = OrderedDict()

    def find(self, chat: int, album: str) -> Album | None:
        """Find an album of which something was taken in."""
        return self._known.get((chat, album))

    def keep(self, chat: int, name: str, album: Album) -> None:
        """Remember what was taken in of an album."""
        self._known[chat, name] = album
        self._known.move_to_end((chat, name))
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def count_settled(batch: Sequence[object], before: Sequence[object], most: int) -> int:
    """Tell how many updates, from the first, belong to no album that may still grow.

    `before` is what was read a moment ago, and `most` how many updates can be read at all.
    """
    counts, earlier = _counts(batch), _counts(before)
    growing = {name for name, count in counts.items() if count != earlier.get(name)}
    if len(batch) >= most:
        # The rest of an album at its end may wait behind it.
        growing |= {name for raw in batch[-MOST_PARTS:] if (name := album_in(raw))}
    for n, raw in enumerate(batch):
        if album_in(raw) in growing:
            return n
    return len(batch)


def has_album(batch: Iterable[object]) -> bool:
    """Tell whether there is a part of an album among updates."""
    return any(album_in(raw) for raw in batch)


def album_in(raw: object) -> str | None:
    """Find the album of a raw update, which may be anything."""
    told = raw if isinstance(raw, dict) else {}
    message = told.get("message") or told.get("channel_post")
    name = message.get("media_group_id") if isinstance(message, dict) else None
    return name if isinstance(name, str) and name else None


def _counts(batch: Iterable[object]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for raw in batch:
        if name := album_in(raw):
            counts[name] = counts.get(name, 0) + 1
    return counts
