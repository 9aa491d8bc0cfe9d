"""The default path of a memory."""

from __future__ import annotations

import os
from pathlib import Path

from bt_runtime.language.project import find_root


def default_store() -> Path:
    """Returns the default store: `BTR_MEMORY`, else in the project, else in the user's data folder."""
    named = os.environ.get("BTR_MEMORY")
    if named:
        return Path(named).expanduser()
    project = find_root()
    if project:
        return project / ".btr" / "memory.sqlite"
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "bt_runtime" / "memory.sqlite"
