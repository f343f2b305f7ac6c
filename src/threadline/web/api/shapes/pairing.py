"""Pairing: who waits to be let in, and who was."""

from pydantic import Field

from threadline.core.access import Grant, Pairing
from threadline.web.api.shapes.model import Answer, Moment, Wish
from threadline.web.api.shapes.people import SENDER


class WaitingShape(Answer):
    """Somebody who asked to be let in; the code was shown to them alone."""

    sender: str = Field(examples=["telegram:42"])
    name: str | None
    asked_at: Moment
    expires_at: Moment

    @classmethod
    def from_pairing(cls, pairing: Pairing) -> "WaitingShape":
        """Tell who waits."""
        return cls(
            sender=str(pairing.identity),
            name=pairing.name,
            asked_at=pairing.asked_at,
            expires_at=pairing.expires_at,
        )


class GrantShape(Answer):
    """Somebody whom the owner let in, beside those whom the settings name."""

    sender: str = Field(examples=["telegram:42"])
    name: str | None
    granted_at: Moment

    @classmethod
    def from_grant(cls, grant: Grant) -> "GrantShape":
        """Tell who was let in."""
        return cls(sender=str(grant.identity), name=grant.name, granted_at=grant.granted_at)


class PairingApproval(Wish):
    """The code that somebody was shown who wants to be let in."""

    code: str = Field(min_length=1, max_length=40, examples=["K7QM-2XPA"])
    platform: str | None = Field(default=None, min_length=1, max_length=200)


class GrantWish(Wish):
    """Somebody to be let in without a code."""

    sender: str = SENDER
    name: str | None = Field(default=None, min_length=1, max_length=200)
