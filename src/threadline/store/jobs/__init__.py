"""Jobs: prompts that run on a schedule."""
