"""Resources: every conversation over one interface."""
