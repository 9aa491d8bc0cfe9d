"""ALFRED: its rooms, its recorded tasks, and the properties of each kind of object. The worlds thor and alfworld use
it."""
