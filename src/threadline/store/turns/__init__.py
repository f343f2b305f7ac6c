"""Turns: from the claim of a queued one to its end, whatever that is."""
