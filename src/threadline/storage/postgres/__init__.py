"""Threadline on PostgreSQL: one database, a few worker threads, one listener."""

from threadline.storage.postgres.database import PostgresDatabase

__all__ = ["PostgresDatabase"]
