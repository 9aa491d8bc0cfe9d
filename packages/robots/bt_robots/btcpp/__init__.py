"""Reads and writes trees of BehaviorTree.CPP as XML."""
