"""Proofs about trees: checks properties in all runs of a tree, against grafts, and in a live run."""
