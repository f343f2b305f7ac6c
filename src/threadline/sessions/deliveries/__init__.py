"""The ledger of deliveries: everything owed, until it was sent, failed, or was given up."""

from threadline.sessions.deliveries.parcel import Parcel

__all__ = ["Parcel"]
