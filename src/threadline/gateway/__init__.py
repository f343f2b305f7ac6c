"""The gateway: the loops that carry a message from its arrival to its answer."""
