"""Groot2 and the terminal monitors that speak its protocol: they show a run of ours as one of BehaviorTree.CPP's."""
