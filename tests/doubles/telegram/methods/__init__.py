"""Methods: what a bot can call, by the names of the Bot API."""

from collections.abc import Callable
from typing import TypeAlias

from tests.doubles.telegram.calls import Call
from tests.doubles.telegram.methods.chats import ROOM_METHODS
from tests.doubles.telegram.methods.media import MEDIA_METHODS
from tests.doubles.telegram.methods.menu import MENU_METHODS
from tests.doubles.telegram.methods.messages import MESSAGE_METHODS
from tests.doubles.telegram.state import World

Method: TypeAlias = Callable[[World, Call], object]

METHODS: dict[str, Method] = {
    **MESSAGE_METHODS,
    **MEDIA_METHODS,
    **ROOM_METHODS,
    **MENU_METHODS,
}
"""Every method that is answered at once; those that wait for updates are the server's."""
