"""Properties of trees: what must never, always or at some time hold; their text, read and checked."""
