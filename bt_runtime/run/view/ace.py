"""The text editor Ace, where the extra `view` has put it."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import metadata
from pathlib import Path

_NAME = re.compile(r"/ace/((?:css/(?:theme/)?)?[\w-]+\.(?:js|css|png))")
_KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".png": "image/png"}


@lru_cache(maxsize=1)
def ace_folder() -> Path | None:
    """Returns the folder of Ace, which the extra `view` installs; the package is not imported."""
    try:
        files = metadata.files("django-ace") or ()
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(f.locate())).parent for f in files if str(f).endswith("django_ace/ace/ace.js")), None)


@lru_cache(maxsize=32)
def ace_file(path: str) -> tuple[bytes, str] | None:
    """Returns the file of Ace at a URL path, and its content type."""
    found, folder = _NAME.fullmatch(path), ace_folder()
    file = folder / found[1] if folder is not None and found is not None else None
    return (file.read_bytes(), _KINDS[file.suffix]) if file is not None and file.is_file() else None
