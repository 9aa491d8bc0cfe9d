"""Proofs about trees: checks properties against a model of all runs, against grafts, and in a live run."""
