"""What is public is listed once: the page is made of it, it exists, and the pages for people use nothing else."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import bt_runtime
from bt_runtime import _public

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
IMPORT = re.compile(r"^\s*from (bt_runtime[\w.]*) import (\([^)]*\)|[^\n#]+)", re.MULTILINE)


def test_the_page_is_what_the_lists_make() -> None:
    """`make generated` writes it."""
    assert (ROOT / "docs" / "api.md").read_text("utf-8") == _public.page()


def test_what_is_listed_is_there() -> None:
    """Modules of an extra that is not installed are left out."""
    assert [name for name in bt_runtime.__all__ if not hasattr(bt_runtime, name)] == []
    for module, names in _public.PUBLIC.items():
        try:
            own = importlib.import_module(module)
        except ModuleNotFoundError as error:
            assert not str(error.name).startswith("bt_runtime"), module
            continue
        assert [name for name in names.split() if not hasattr(own, name)] == [], module


def test_the_face_has_events_statuses_and_clocks() -> None:
    public = _public.names()
    assert {("bt_runtime", "Status"), ("bt_runtime", "clock"), ("bt_runtime.events", "Tick")} <= public
    assert {("bt_runtime.events", "Grown"), ("bt_runtime.types", "Job"), ("bt_runtime.plugins", "Gate")} <= public


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_imports_only_what_is_public(page: Path) -> None:
    public = _public.names()
    found = [
        (module, name)
        for module, names in IMPORT.findall(page.read_text("utf-8"))
        for name in re.findall(r"\b[A-Za-z_]\w*", re.sub(r" as \w+", "", names))
    ]
    assert [each for each in found if each not in public and ".".join(each) not in _public.PUBLIC] == []
