"""Shares: pages of conversations that anybody can read who knows their address."""

from pydantic import Field

from threadline.core.account import Share
from threadline.web.api.shapes.model import Answer, Moment, Wish
from threadline.web.guard import SHARED


class ShareShape(Answer):
    """A page that is shared, or was."""

    id: str
    path: str = Field(description="Where it is read, without a login.", examples=["/s/…"])
    session: str
    title: str
    size: int
    made_at: Moment
    revoked_at: Moment | None

    @classmethod
    def from_share(cls, share: Share) -> "ShareShape":
        """Tell what is shared, and where."""
        return cls(
            id=share.id,
            path=f"{SHARED}{share.id}",
            session=share.session_id,
            title=share.title,
            size=share.size,
            made_at=share.made_at,
            revoked_at=share.revoked_at,
        )


class ShareWish(Wish):
    """A conversation to be shared."""

    session: str = Field(min_length=1, max_length=100, examples=["20260131_184500_0a1b2c3d"])
