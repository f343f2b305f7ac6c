"""The simulated platform: made-up people chat there, and everything can go wrong on demand."""

from threadline.platforms.simulated.chats import Shown
from threadline.platforms.simulated.people import File, Person
from threadline.platforms.simulated.platform import EVERYTHING, Simulated
from threadline.platforms.simulated.trouble import Trouble

__all__ = ["EVERYTHING", "File", "Person", "Shown", "Simulated", "Trouble"]
