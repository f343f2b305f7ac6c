"""The simulated platform: made-up people chat there, and everything can go wrong on demand."""

from threadline.platforms.simulated.chats import ChatMessage
from threadline.platforms.simulated.faults import SendFault
from threadline.platforms.simulated.people import SentFile, SimulatedPerson
from threadline.platforms.simulated.platform import EVERYTHING, Simulated

__all__ = ["EVERYTHING", "ChatMessage", "SendFault", "SentFile", "Simulated", "SimulatedPerson"]
