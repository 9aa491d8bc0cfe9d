"""Preference pairs of a run that failed and a fork of it that was saved: two answers to the same prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bt_lab.distill import chats
from bt_lab.distill.journals import lives, met
from bt_runtime.journal.reading import Recording


def pairs_of(failed: Recording, saved: Recording) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields each pair with a key. Nothing where the recorded run reached its goal, or the fork did not."""
    if met(failed) or not met(saved):
        return
    both = [*((life, True) for life in lives(saved)), *((life, False) for life in lives(failed))]
    for row in chats.pairs(both):
        yield json.dumps(row, sort_keys=True), row
