"""People: who is who, who belongs together, and who may see what."""
