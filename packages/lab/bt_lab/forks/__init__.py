"""Many forks of one recorded run: edits tried with several seeds, and decisions flipped one at a time."""
