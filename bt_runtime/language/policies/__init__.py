"""Policies: which sources a value may have where it orders something."""
