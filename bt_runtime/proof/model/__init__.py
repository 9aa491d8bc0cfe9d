"""The model of a tree: its nodes' rules on a compact state, with a choice wherever runs can differ."""
