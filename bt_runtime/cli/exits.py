"""What the number means with which a command ends."""

from __future__ import annotations


class Exit:
    SUCCESS, FAILURE, USAGE, INTERNAL, BUDGET, NOTHING, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
