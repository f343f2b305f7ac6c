"""Storage: one schema, two databases behind one port."""
