"""Small trees for the tests of this folder: `make("sequence: [a: {}, b: {}]", a=SUCCESS, b=after(2))`."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from bt_runtime.testing import Trial


@pytest.fixture
def make():
    """A trial before its first tick of a tree `t` with this root; keyword arguments are skills and their scripts."""
    trials: list[Trial] = []

    def build(root: str, *, header: str = "", options: dict | None = None, **skills) -> Trial:
        text = f"version: 1\ntree: t\n{dedent(header)}\nroot:\n{indent(dedent(root), '  ')}\n"
        trials.append(Trial(text, skills=skills, **(options or {})))
        return trials[-1]

    yield build
    for trial in trials:
        trial.close()
