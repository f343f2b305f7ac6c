"""Transfer: history that leaves the store as a file, and history that comes back."""
