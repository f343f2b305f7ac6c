"""Sessions: pages of sessions, and what a row says of each."""
