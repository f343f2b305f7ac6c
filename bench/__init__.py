"""The bench: how fast Threadline is, beside the bare database doing the same writes."""
