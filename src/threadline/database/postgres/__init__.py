"""Threadline on PostgreSQL: one database, a few worker threads, one listener."""

from threadline.database.postgres.database import PostgresDatabase

__all__ = ["PostgresDatabase"]
