"""Core: the nouns and rules. Standard library only, no input or output, no clock."""
