"""Role: who may do what."""

from enum import StrEnum


class AccessLevel(StrEnum):
    """How far somebody is let in; a later one in this list may all that an earlier one may."""

    STRANGER = "stranger"
    """Nobody whom we know: they may ask to be let in."""
    MEMBER = "member"
    """They may speak, and see what is theirs."""
    ADMIN = "admin"
    """They may also see and do what goes beyond their own chat."""
    OWNER = "owner"
    """The installation is theirs: whoever sits at its terminal."""

    def may(self, least: "AccessLevel") -> bool:
        """Tell whether this rank is enough where another one is asked for."""
        order = list(AccessLevel)
        return order.index(self) >= order.index(least)
