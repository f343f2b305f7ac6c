"""Search: the index of words, and the questions it answers."""
