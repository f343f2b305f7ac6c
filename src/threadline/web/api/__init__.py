"""The HTTP API: every conversation over one interface."""
