"""The turn queue: workers claim turns, and turns of dead workers are recovered."""
