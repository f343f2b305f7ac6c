"""The command line: threadline chat · sessions · explain · doctor."""
