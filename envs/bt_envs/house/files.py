"""Recognises tasks and apartments by content: WAH-NL's, Watch-And-Help's, VirtualHome's graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from bt_runtime.skills.worlds.outline import inside, outline
from bt_runtime.skills.worlds.registry import Read, Suite, Wanted, tasks_of

FORMATS = (
    "WAH-NL's instructions with plans (its train set) or with graphs (its test set)",
    "Watch-And-Help's tasks and recorded episodes", "VirtualHome's graphs",
)  # fmt: skip
Form = Literal["spoken", "spoken, with graphs", "recorded", "episode", "graph"]


def form_of(path: Path) -> Form | None:
    found = outline(path)
    if found.rows and found.has("nl_instructions"):
        if found.has("init_graph", "task_goal"):
            return "spoken, with graphs"
        return "spoken" if found.has("task_goal_derived") else None
    if found.rows:
        return "recorded" if found.has("init_graph", "goal") else None
    if found.has("init_unity_graph", "goals"):
        return "episode"
    return "graph" if found.has("nodes", "edges") or found.has("init_graph") else None


def of_forms(place: Path, *forms: Form) -> list[Path]:
    """The file itself, or those in a folder."""
    return [path for path in ([place] if place.is_file() else inside(place)) if form_of(path) in forms]


def read(suite: Suite, path: Path, wanted: Wanted) -> Read | None:
    form = form_of(path) if path.is_file() else "graph" if of_forms(path, "graph") else None
    if form is None:
        return None
    if form == "graph":
        return tasks_of(suite, wanted._replace(data=str(path), options={"homes": "data", **wanted.options}))
    source = "wah_nl" if form.startswith("spoken") else "wah"
    if form == "spoken":  # the apartments are the data folder's
        return tasks_of(suite, wanted.of_data(path, "wah", source=source, file=str(path)))
    return tasks_of(suite, wanted._replace(options={**wanted.options, "source": source, "file": str(path)}))
