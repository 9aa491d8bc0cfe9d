"""The debugger of a live run: breakpoints, forced results, replaced subtrees, and explanations of a node's status."""
