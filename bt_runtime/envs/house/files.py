"""Recorded tasks of others in a file: WAH-NL's and Watch-And-Help's, which lie in `wah/` of a data folder."""

from __future__ import annotations

from pathlib import Path

from bt_runtime.envs.registry import Read, Suite, Wanted, tasks_of

FORMATS = ("WAH-NL's train_plans_instructions.json", "Watch-And-Help's envset_hist_*.json")
ALL = 1_000_000  # tasks: more than any recording holds


def read(suite: Suite, path: Path, wanted: Wanted) -> Read | None:
    if path.name == "train_plans_instructions.json":
        return tasks_of(suite, wanted.of_data(path, "wah", source="wah_nl"))
    if not path.name.startswith("envset_hist_"):
        return None
    own = f"{path.name.partition('.')[0]}-"  # of all recorded tasks those of this file: their ids begin with its name
    everything = tasks_of(suite, wanted.of_data(path, "wah", source="wah")._replace(episodes=ALL))
    return everything._replace(tasks=[t for t in everything.tasks if t.id.startswith(own)][: wanted.episodes])
