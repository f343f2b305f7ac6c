"""How long a test waits for something that must happen."""

HANG_SECONDS = 120.0
"""After so long a test has hung. It measures no speed: a busy machine may need most of it."""
