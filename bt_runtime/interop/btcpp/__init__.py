"""Trees of BehaviorTree.CPP: read from its XML, and written as it."""
