"""Identities as somebody types them."""

from threadline.core.errors import Invalid
from threadline.core.person import Identity


def read_identity(written: str) -> Identity:
    """Read who is meant: `telegram:42`."""
    platform, colon, id = written.partition(":")
    if not colon:
        raise Invalid(f"“{written[:60]}” names nobody", hint="Write it as telegram:42")
    return Identity(platform=platform, id=id)
