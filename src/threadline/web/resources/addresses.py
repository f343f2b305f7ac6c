"""Addresses: where something is said, as the API shows it."""

from typing import Annotated

from msgspec import Meta

from threadline.core.address import Address, Kind
from threadline.core.errors import Invalid
from threadline.core.person import Identity
from threadline.web.bodies import View


class AddressView(View, frozen=True, kw_only=True):
    """A chat on a platform, or a thread of one."""

    platform: Annotated[str, Meta(examples=["telegram"])]
    kind: Kind
    chat: Annotated[str, Meta(examples=["42"])]
    account: str = ""
    """Which of our accounts there; empty: the only."""
    thread: str | None = None
    name: str | None = None
    """What the chat is called."""
    topic: str | None = None

    @classmethod
    def from_address(cls, address: Address) -> "AddressView":
        """Return the view of an address."""
        return cls(
            platform=address.platform,
            kind=address.kind,
            chat=address.chat,
            account=address.account,
            thread=address.thread,
            name=address.chat_name,
            topic=address.topic,
        )


def parse_identity(written: str) -> Identity:
    """Read who is meant: `telegram:42`."""
    platform, colon, id = written.partition(":")
    if not colon:
        raise Invalid(f"“{written[:60]}” is not a sender", hint="Write it as telegram:42")
    return Identity(platform=platform, id=id)
