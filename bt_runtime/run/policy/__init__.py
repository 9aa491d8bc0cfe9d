"""Policies in a run: where each value came from, and what text from outside may not order."""
