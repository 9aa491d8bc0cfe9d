"""Collects the diagnostics of one load."""

from __future__ import annotations

from bt_runtime.language.faults.diagnostic import Diagnostic, Fix, Severity
from bt_runtime.types import Span

MOST = 200  # faults kept of each severity: a hostile file could have 100,000


class Diagnostics:
    def __init__(self) -> None:
        self.items: list[Diagnostic] = []
        self.counts: dict[Severity, int] = {"error": 0, "warning": 0}
        self.sources: dict[str, str] = {}  # file → text, for the edge to show

    @property
    def errors(self) -> int:
        return self.counts["error"]

    def error(
        self,
        code: str,
        message: str,
        file: str,
        span: Span | None,
        label: str = "",
        help: str = "",
        fixes: tuple[Fix, ...] = (),
    ) -> None:
        self.add(Diagnostic(code, message, file, span, label, help, fixes=fixes))

    def warning(
        self, code: str, message: str, file: str, span: Span | None, label: str = "", help: str = "",
        fixes: tuple[Fix, ...] = (),
    ) -> None:  # fmt: skip
        self.add(Diagnostic(code, message, file, span, label, help, "warning", fixes))

    def add(self, *found: Diagnostic) -> None:
        for each in found:
            self.counts[each.severity] += 1
        self.items += found

    def full(self, severity: Severity = "error") -> bool:
        """True when enough diagnostics are collected that further checks are not worth the time."""
        return self.counts[severity] > MOST

    def sorted(self) -> list[Diagnostic]:
        """Returns the faults by file and place, without duplicates and up to a limit."""
        unique = sorted(dict.fromkeys(self.items), key=lambda d: (d.file, d.span or Span(0, 0, 0, 0), d.code))
        kept: list[Diagnostic] = []
        left = {"error": MOST, "warning": MOST}
        for each in unique:
            left[each.severity] -= 1
            if left[each.severity] >= 0:
                kept.append(each)
            elif left[each.severity] == -1:
                kept.append(each._replace(label="", help="and there are more like these; fix the first ones"))
        return kept
