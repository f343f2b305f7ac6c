"""The session layer: every write, one transaction each; and the reads."""
