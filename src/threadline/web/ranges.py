"""Ranges: the piece of a file that a request asks for."""

import re

from msgspec import Struct

from threadline.core.errors import Invalid

_ONE_RANGE = re.compile(r"bytes=(?P<first>\d{0,15})-(?P<last>\d{0,15})", re.ASCII)


class NoSuchRange(Invalid):
    """The file is not so long."""

    status = 416

    def __init__(self, size: int) -> None:
        """Say how long it is."""
        super().__init__(f"The file has {size:,} bytes")
        self.headers = {"Content-Range": f"bytes */{size}"}
        """What goes with the answer."""


class ByteRange(Struct, frozen=True, kw_only=True):
    """The first and the last byte of a piece."""

    first: int
    last: int
    is_part: bool

    @property
    def length(self) -> int:
        """How many bytes there are."""
        return self.last - self.first + 1


def read_range(wanted: str | None, size: int) -> ByteRange:
    """Read which piece is wanted; what is no range, or several, means all of it."""
    form = None if wanted is None else _ONE_RANGE.fullmatch(wanted.strip())
    if form is None or (not form["first"] and not form["last"]):
        return ByteRange(first=0, last=size - 1, is_part=False)
    if form["first"]:
        first = int(form["first"])
        last = min(int(form["last"]), size - 1) if form["last"] else size - 1
        if form["last"] and int(form["last"]) < first:
            return ByteRange(first=0, last=size - 1, is_part=False)
    else:  # the last ones
        first, last = max(size - int(form["last"]), 0), size - 1
    if first > last:
        raise NoSuchRange(size)
    return ByteRange(first=first, last=last, is_part=True)
