"""Serves Groot2 and terminal monitors that speak its protocol: they show our run like one of BehaviorTree.CPP."""
