"""ALFRED: its rooms, its trials and what each kind of thing can do. The worlds thor and alfworld stand on it."""
