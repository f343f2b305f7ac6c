"""Transcripts: what a conversation shows, and how that is taken back, shortened and parted."""
