"""Tools for a live run that the operator named: read it, graft into it after a person's consent, halt it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bt_author.mcp.tools.answer import Answer, paged
from bt_author.mcp.tools.site import Site
from bt_author.mcp.tools.tool import PAGE, Tool, text
from bt_author.mcp.tools.writing import LABEL
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.policies.label import ASSISTED
from bt_runtime.run.debug import client

MOST_SHOWN = 20_000  # characters of a graft: all of it stands in the question


class Operated:
    """The live run. Each command opens a connection, so that an idle assistant holds none."""

    def __init__(self, run: str) -> None:
        self.run = run

    def do(self, name: str, **given: Any) -> dict[str, Any]:
        attached = client.attached(self.run)
        try:
            attached.send(name, given)
            for message in attached.messages():
                if "error" in message:
                    raise BtError(str(message["error"]), "`live` shows the run")
                if "done" in message:
                    return dict(message.get("answer") or {})
        finally:
            attached.close()
        raise BtError("the run has gone", "the operator can start another: btr run --debug")

    def live(self, site: Site, path: str = "", what: str = "status", page: int = 1) -> Answer:
        """Reads the run."""
        given = {"path": path} if path and what in ("why", "source") else {}
        if what == "source" and not path:
            raise BtError("`source` needs a path", "such as /main/rounds")
        said = str(self.do("print" if what == "entries" else what, **given).get("said", ""))
        part = paged(said, page)
        return Answer(part.text, {"what": what, **part.data()})

    def question(self, site: Site, given: Mapping[str, Any]) -> str:
        """Returns the question to the person before a graft, with all of it. One with faults, or one that is too long
        to be looked through, is refused without a question."""
        if len(given["text"]) > MOST_SHOWN:
            raise BtError(
                f"nothing was grafted: {len(given['text']):,} characters are too long for a person to look through",
                f"at most {MOST_SHOWN:,}; graft a smaller part",
            )
        checked = self.do("check", path=given["path"], text=given["text"])
        if checked.get("faults"):
            raise BtError(f"nothing was grafted: {checked.get('said', '')}", "mend the text")
        return f"The {LABEL} wants to replace {given['path']} in the live run by:\n{given['text']}"

    def graft(self, site: Site, path: str, text: str, why: str = "") -> Answer:
        """Puts a subtree in the place of a node; the person has said yes."""
        marked = f"# {ASSISTED}\n{text}"
        said = str(self.do("replace", path=path, text=marked).get("said", ""))
        site.show(f"{LABEL} grafted at {path}")
        return Answer(said, {"path": path})

    def stop(self, site: Site, why: str = "") -> Answer:
        """Ends the run."""
        site.show(f"{LABEL} halts the run")
        return Answer(str(self.do("halt").get("said", "")), {"halted": True})


def tools(run: str) -> dict[str, Tool]:
    """Returns the tools of one live run."""
    operated = Operated(run)
    listed = (
        Tool(
            "live", "Read the live run: status, why a node is as it is, its source, entries.",
            {"what": {"enum": ["status", "why", "source", "entries"]}, "path": text("of a node"), "page": PAGE},
            operated.live, returns={"what": text()},
        ),
        Tool(
            "live_graft", "Replace a node of the live run; the operator is asked first.",
            {"path": text("/main/rounds"), "text": text("YAML of a node"), "why": text()}, operated.graft,
            ("path", "text"), reads=False, returns={"path": text()}, confirm=operated.question,
        ),
        Tool("live_halt", "End the live run now.", {"why": text()}, operated.stop, reads=False,
             returns={"halted": {"type": "boolean"}}),
    )  # fmt: skip
    return {tool.name: tool for tool in listed}
