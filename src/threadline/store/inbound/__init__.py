"""Inbound: whatever comes in from a platform, exactly once."""
