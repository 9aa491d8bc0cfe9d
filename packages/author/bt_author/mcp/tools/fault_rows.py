"""Formats faults for an assistant: one short line each, with the fix as edits."""

from __future__ import annotations

from collections.abc import Iterable

from bt_runtime.language.faults.diagnostic import Diagnostic, Fix
from bt_runtime.types import Json

MOST_FAULTS = 20
MOST_FIXES = 2  # fixes told of one fault


def line(fault: Diagnostic) -> str:
    """Formats `trees/a.yaml:5:3 error BT012: … -> did you mean …`, and below it the likeliest fix."""
    place = f"{fault.file}:{fault.span.line}:{fault.span.column}" if fault.span else fault.file
    help = " ".join(part for part in (fault.label, fault.help) if part)
    text = f"{place} {fault.severity} {fault.code}: {fault.message}" + (f" -> {help}" if help else "")
    fix = fault.fixes[0] if fault.fixes else None
    return f"{text}\n  fix: {fix.title}" if fix is not None else text


def data(fault: Diagnostic) -> dict[str, Json]:
    found: dict[str, Json] = {"code": fault.code, "severity": fault.severity, "message": fault.message}
    found["file"] = fault.file
    if fault.span is not None:
        found["line"], found["column"] = fault.span.line, fault.span.column
    found |= {key: text for key, text in (("label", fault.label), ("help", fault.help)) if text}
    if fault.fixes:
        found["fixes"] = [_fix(fix) for fix in fault.fixes[:MOST_FIXES]]
    return found


def _fix(fix: Fix) -> dict[str, Json]:
    edits: list[Json] = [{"from": [e.span.line, e.span.column], "to": [e.span.end_line, e.span.end_column],
                          "text": e.text} for e in fix.edits]  # fmt: skip
    return {"title": fix.title, "sure": fix.sure, "edits": edits}


def text(faults: Iterable[Diagnostic]) -> str:
    listed = list(faults)
    lines = [line(fault) for fault in listed[:MOST_FAULTS]]
    more = [f"and {len(listed) - MOST_FAULTS} more"] if len(listed) > MOST_FAULTS else []
    return "\n".join([*lines, *more]) or "no faults"
