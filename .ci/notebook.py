"""Runs the notebooks of examples/, cell by cell, and writes what each shows into them: `python .ci/notebook.py`.

A cell shows what it prints, and its last expression as a picture (`_repr_html_`) or as text."""

from __future__ import annotations

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def shown(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs one cell; returns its outputs in the notebook's form."""
    parsed, value, out = ast.parse(source), None, io.StringIO()
    last = parsed.body.pop() if parsed.body and isinstance(parsed.body[-1], ast.Expr) else None
    with redirect_stdout(out):
        exec(compile(parsed, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    found: list[dict[str, Any]] = []
    if said := out.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": lines(said)})
    if value is not None:
        data = {"text/plain": [repr(value)]}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": lines(value._repr_html_()), "text/plain": [f"<{type(value).__name__}>"]}
        found.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return found


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def played(path: Path) -> str:
    book = json.loads(path.read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = shown("".join(cell["source"]), names), None
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for each in sorted((ROOT / "examples").glob("*.ipynb")):
        text = played(each)
        if text != each.read_text("utf-8"):
            each.write_text(text, "utf-8")
            print(each.relative_to(ROOT))
