"""What the lessons say and show, as data beside the code: words, phrasings, homes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def read(name: str) -> dict[str, Any]:
    """The mapping in NAME.yaml beside this file; `house/homes` stands in that folder. Seeds draw by its order."""
    text = (Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))
