"""Threadline: one durable conversation, whichever app it is spoken in."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadline.assembly import open
    from threadline.core.address import Address, Kind, Sender
    from threadline.core.errors import ThreadlineError
    from threadline.core.inbound import Inbound
    from threadline.core.message import Role, Text, say
    from threadline.core.settings import Settings
    from threadline.store import Store
else:
    _HOMES = {
        "Address": "threadline.core.address",
        "Inbound": "threadline.core.inbound",
        "Kind": "threadline.core.address",
        "Role": "threadline.core.message",
        "Settings": "threadline.core.settings",
        "Sender": "threadline.core.address",
        "Store": "threadline.store",
        "Text": "threadline.core.message",
        "ThreadlineError": "threadline.core.errors",
        "open": "threadline.assembly",
        "say": "threadline.core.message",
    }

    def __getattr__(name: str) -> object:
        """Import what is asked for: every part of the package imports this, and few need it all."""
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES})


__all__ = [
    "Address",
    "Inbound",
    "Kind",
    "Role",
    "Sender",
    "Settings",
    "Store",
    "Text",
    "ThreadlineError",
    "open",
    "say",
]
