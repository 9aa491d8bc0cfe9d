"""The exit codes of the commands."""

from __future__ import annotations


class Exit:
    SUCCESS, FAILURE, USAGE, INTERNAL, BUDGET, NOTHING, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
