"""A run looked into while it goes on: breakpoints, forced results, replaced subtrees, and why a node did as it did."""
