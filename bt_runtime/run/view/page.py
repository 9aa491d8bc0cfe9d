"""The page's files, separate or combined into one file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from bt_runtime.run.view.event import Event

FOLDER = Path(__file__).parent / "page"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
_STYLE = re.compile(r'<link rel="stylesheet" href="(\w+\.css)">')
_SCRIPT = re.compile(r'<script src="(\w+\.js)" defer></script>\n?')


def asset(path: str) -> tuple[bytes, str] | None:
    """Returns the file at this URL path, and its content type."""
    name = path.removeprefix("/") or "page.html"
    return _read(name) if re.fullmatch(r"\w+\.(html|js|css)", name) else None


@lru_cache(maxsize=64)
def _read(name: str) -> tuple[bytes, str] | None:
    file = FOLDER / name
    return (file.read_bytes(), KINDS[file.suffix]) if file.is_file() else None


def whole(events: Iterable[Event]) -> str:
    """Returns one HTML file with styles, scripts and events; its policy blocks all other code and content."""
    text = (FOLDER / "page.html").read_text(encoding="utf-8")
    style = "".join((FOLDER / name).read_text(encoding="utf-8") for name in _STYLE.findall(text))
    script = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in _SCRIPT.findall(text))
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; img-src data:; base-uri 'none'"
    )
    data = json.dumps(list(events), ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>'
    body = f'<script type="application/json" id="recorded">{data}</script>\n<script>{script}</script>\n'
    text = _SCRIPT.sub("", _STYLE.sub(lambda _: head, text))
    return text.replace("</body>", f"{body}</body>")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
