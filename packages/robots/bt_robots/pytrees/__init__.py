"""Reads trees of py_trees out of Python source, without running it."""
