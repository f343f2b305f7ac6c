"""Threadline on SQLite: one file, one writer thread, a few readers."""

from threadline.database.sqlite.database import SqliteDatabase

__all__ = ["SqliteDatabase"]
