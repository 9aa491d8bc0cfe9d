"""Patterns of paths: `*` is one segment or a part of it, `**` any number of segments."""

from __future__ import annotations

import re
from functools import cache


def matches(pattern: str, path: str) -> bool:
    """`*` is one segment or a part of it, `**` any number of segments: `**/fetch`, `/main/*/1`."""
    return compiled(pattern).fullmatch(path) is not None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|/\*\*|\*|\?)", pattern if pattern.startswith(("/", "**")) else f"**/{pattern}")
    special = {"**/": "/(?:.+/)?", "/**": "/.+", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(special.get(p, re.escape(p)) for p in parts))
