"""Proofs about trees: their properties against a model of all their runs, against grafts, and against a run itself."""
