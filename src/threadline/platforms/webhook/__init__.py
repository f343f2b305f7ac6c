"""The signed webhook: any program can speak to the agent with HTTP and a shared secret."""

from threadline.platforms.webhook.platform import Webhook, make
from threadline.platforms.webhook.settings import Settings
from threadline.platforms.webhook.signature import sign

__all__ = ["Settings", "Webhook", "make", "sign"]
