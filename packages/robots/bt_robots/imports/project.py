"""The project that an import makes."""

from __future__ import annotations

from typing import NamedTuple

from bt_robots.imports.report import Report


class Imported(NamedTuple):
    files: dict[str, str]  # place in the project → text
    main: str  # the tree that is run
    report: Report
