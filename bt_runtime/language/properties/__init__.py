"""Reads and checks properties of trees: what must hold never, always or at some time."""
