"""The tests of Threadline; they share code by its full name, as in `tests.databases`."""
