"""Testing: contracts, fakes, and a clock that can be set."""
