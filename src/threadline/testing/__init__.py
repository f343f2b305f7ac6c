"""What is shipped for the tests of others: contracts, fakes, and a clock that can be set."""
