"""Path patterns: `*` matches one segment or a part of it, `**` any number of segments."""

from __future__ import annotations

import re
from functools import cache


def matches(pattern: str, path: str) -> bool:
    """True when the path matches, such as `**/fetch` or `/main/*/1`. `*` is one segment or a part of it, `**` any
    number of segments."""
    return compiled(pattern).fullmatch(path) is not None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|/\*\*|\*|\?)", pattern if pattern.startswith(("/", "**")) else f"**/{pattern}")
    special = {"**/": "/(?:.+/)?", "/**": "/.+", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(special.get(p, re.escape(p)) for p in parts))
