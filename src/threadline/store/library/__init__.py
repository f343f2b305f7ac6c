"""The groups of methods that make up the library."""
