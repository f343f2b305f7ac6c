"""CLI: threadline chat · sessions · explain · doctor."""
