"""Forwards a run's log lines to Python's own `logging`."""

from __future__ import annotations

import logging
from collections.abc import Callable

from bt_runtime.events import Line, Notice
from bt_runtime.run.run import Run

LOGGER = "bt_runtime.run"


def bridge(run: Run, logger: logging.Logger | str = LOGGER) -> Callable[[], None]:
    """Forwards every line with its level, its `path` and its `run` as attributes of the record; returns a function
    that ends that."""
    target = logging.getLogger(logger) if isinstance(logger, str) else logger

    def told(line: Line) -> None:
        level = logging.getLevelNamesMapping().get(line.level.upper(), logging.INFO)
        words = f"{line.path}: {line.text}" if line.path else line.text
        target.log(level, "%s", words, extra={"path": line.path, "run": run.parts.name})

    return run.listen(told, Line, Notice)
