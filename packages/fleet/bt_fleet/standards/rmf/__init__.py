"""The task API of Open-RMF on a fleet."""
