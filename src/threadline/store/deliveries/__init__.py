"""The ledger of deliveries: everything owed, until it was sent, failed, or was given up."""

from threadline.store.deliveries.payload import DeliveryPayload

__all__ = ["DeliveryPayload"]
