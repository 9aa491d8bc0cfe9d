"""Tools about recorded runs: list them, tell what happened, and explain a node's status."""

from __future__ import annotations

import time
from pathlib import Path

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.journal import folder
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.story import told
from bt_runtime.journal.summary import summary
from bt_runtime.language.settings import Settings
from bt_runtime.mcp.tools.answer import Answer, paged, rows
from bt_runtime.mcp.tools.playing import held
from bt_runtime.mcp.tools.site import Site
from bt_runtime.mcp.tools.tool import PAGE, PAGED, Tool, count, text
from bt_runtime.replay.why import why_recorded


def place(site: Site) -> Path:
    """Returns the project's folder of journals; a folder outside the project is not read."""
    named = Settings(root=site.root, tolerant=True)["runs"]
    return site.inside(str(named) if isinstance(named, str) and named != "none" else folder.RUNS)


def found(site: Site, run: str) -> Path:
    if folder.is_path(run):
        raise BtError(f"`{run:.60}` is no name of a run", "`runs` lists them")
    return folder.find(run, place(site))


def runs(site: Site, run: str = "", page: int = 1) -> Answer:
    """Lists the recorded runs, the latest first, or tells the story of one."""
    if run:
        recording = Recording(found(site, run))
        part = paged("\n".join(told(recording)), page)
        return Answer(part.text, {"run": recording.name, **part.data()})
    listed = [summary(path) for path in reversed(folder.journals(place(site)))]
    lines = [
        f"{each.name}  {each.state}  {each.tree}  {each.ticks} ticks  "
        f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(each.started)) if each.started else '?'}"
        for each in listed
    ]
    part = rows(lines, page)
    return Answer(part.text or "no runs", {"runs": [each.name for each in listed[:200]], **part.data()})


def why(site: Site, run: str, path: str, at: int | None = None) -> Answer:
    """Explains a node's status by a replay of the journal, without model, skill or world."""
    with held(site):
        because = why_recorded(found(site, run), path, at)
    return Answer(paged("\n".join(because.sentences)).text, {"run": because.run, "tick": because.tick})


TOOLS = (
    Tool(
        "runs", "List recorded runs, or tell what happened in one.", {"run": text("a name, or last"), "page": PAGE},
        runs, returns={"run": text(), "runs": {"type": "array"}, **PAGED},
    ),
    Tool(
        "why", "Tell why a node of a recorded run was as it was.",
        {"run": text("a name, or last"), "path": text("/main/dock"), "at": count("a tick")}, why, ("run", "path"),
        returns={"run": text(), "tick": {"type": "integer"}},
    ),
)  # fmt: skip
