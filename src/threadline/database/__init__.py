"""Database: one schema, two databases behind one port."""
