"""Linking: which senders are one person, by link codes and by what platforms tell."""
