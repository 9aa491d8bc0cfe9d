"""The text editor Ace, where the extra `view` has put it."""

from __future__ import annotations

from functools import lru_cache
from importlib import metadata
from pathlib import Path


@lru_cache(maxsize=1)
def ace_folder() -> Path | None:
    """Returns the folder of Ace, which the extra `view` installs; the package is not imported."""
    try:
        files = metadata.files("django-ace") or ()
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(f.locate())).parent for f in files if str(f).endswith("django_ace/ace/ace.js")), None)
