"""A tree from a sentence: a model writes it under a grammar, and it is checked and played before a person decides."""
