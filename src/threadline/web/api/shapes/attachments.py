"""Attachments: files that were uploaded, and can be used in a message."""

from pydantic import Field

from threadline.core.message import Attachment, MediaKind
from threadline.web.api.shapes.model import Answer


class UploadShape(Answer):
    """A file that is kept for a day, and for as long as a message uses it."""

    blob: str = Field(description="The SHA-256 of its content, by which it is found.")
    kind: MediaKind
    media_type: str = Field(description="By its content, whatever the request said.")
    size: int
    name: str | None
    ticket: str = Field(description="Give this with a message; it is yours, for a day.")

    @classmethod
    def from_file(cls, file: Attachment, ticket: str) -> "UploadShape":
        """Tell what was kept."""
        return cls(
            blob=file.blob,
            kind=file.kind,
            media_type=file.media_type,
            size=file.size,
            name=file.name,
            ticket=ticket,
        )
