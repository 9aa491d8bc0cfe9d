"""What the site's builder needs to know: a link to a file of the repository that is no page is shown as a name."""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:recipes|trees|skills|envs|memory|guides|schemas|tests)[^)]*\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    deep = page.file.src_uri.count("/")
    return _OUTSIDE.sub(lambda found: found[1] if found[0].count("../") > deep else found[0], markdown)
