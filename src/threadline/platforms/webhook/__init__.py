"""The signed webhook: any program can speak to the agent with HTTP and a shared secret."""

from threadline.platforms.webhook.platform import Webhook, make
from threadline.platforms.webhook.settings import WebhookSettings
from threadline.platforms.webhook.signature import sign

__all__ = ["Webhook", "WebhookSettings", "make", "sign"]
