"""Attachments: the files that messages carry."""

from collections.abc import AsyncIterator

from threadline.core.message import Attachment, BlobHash, MediaKind
from threadline.store import blobs
from threadline.store.library.group import Group


class AttachmentGroup(Group):
    """The files that messages carry."""

    async def put(
        self, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
    ) -> Attachment:
        """Store an attachment, so that a message can use it within a day.

        >>> picture = await store.attachments.put(b"GIF89a", "image/gif", MediaKind.IMAGE)
        """
        return await blobs.store_blob(self._db, data, media_type, kind, name)

    async def read(self, hash: BlobHash) -> AsyncIterator[bytes]:
        """Read an attachment, piece by piece.

        >>> b"".join([piece async for piece in store.attachments.read(picture.blob)])
        b'GIF89a'
        """
        async for piece in blobs.stream_blob(self._db, hash):
            yield piece
