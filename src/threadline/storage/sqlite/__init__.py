"""Threadline on SQLite: one file, one writer thread, a few readers."""

from threadline.storage.sqlite.database import SqliteDatabase

__all__ = ["SqliteDatabase"]
