"""Methods: what a bot can call, by the names of the Bot API."""

from collections.abc import Callable
from typing import TypeAlias

from threadline.testing.telegram.calls import Call
from threadline.testing.telegram.methods.media import MEDIA_METHODS
from threadline.testing.telegram.methods.menu import MENU_METHODS
from threadline.testing.telegram.methods.messages import MESSAGE_METHODS
from threadline.testing.telegram.methods.rooms import ROOM_METHODS
from threadline.testing.telegram.world import World

Method: TypeAlias = Callable[[World, Call], object]

METHODS: dict[str, Method] = {
    **MESSAGE_METHODS,
    **MEDIA_METHODS,
    **ROOM_METHODS,
    **MENU_METHODS,
}
"""Every method that is answered at once; those that wait for updates are the server's."""
