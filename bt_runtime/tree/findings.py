"""Where the checks of one load put what they find."""

from __future__ import annotations

from collections.abc import Iterable

from bt_runtime.diagnose import Diagnostic, nearest
from bt_runtime.types import Span


class Findings:
    def __init__(self) -> None:
        self.items: list[Diagnostic] = []
        self.sources: dict[str, str] = {}  # file → text, for the edge to show

    @property
    def errors(self) -> bool:
        return any(d.severity == "error" for d in self.items)

    def error(self, code: str, message: str, file: str, span: Span | None, label: str = "", help: str = "") -> None:
        self.items.append(Diagnostic(code, message, file, span, label, help))

    def warning(self, code: str, message: str, file: str, span: Span | None, label: str = "", help: str = "") -> None:
        self.items.append(Diagnostic(code, message, file, span, label, help, "warning"))

    def sorted(self) -> list[Diagnostic]:
        """By file and place, each fault once."""
        unique = dict.fromkeys(self.items)
        return sorted(unique, key=lambda d: (d.file, d.span or Span(0, 0, 0, 0), d.code))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    close = nearest(word, known)
    return f"did you mean `{close}`?" if close else ""
