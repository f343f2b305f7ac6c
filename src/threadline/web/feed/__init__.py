"""The live feed: everything that happens, told to whoever follows and may see it."""
