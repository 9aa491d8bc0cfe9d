"""The one tool that writes: trees, manifests and plans of the project, each shown to the person."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from bt_author.loosening import Sort, loosened
from bt_author.mcp.tools import fault_rows
from bt_author.mcp.tools.answer import Answer, paged
from bt_author.mcp.tools.checking import faults_of
from bt_author.mcp.tools.site import Site
from bt_author.mcp.tools.tool import Tool, text
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import printed
from bt_runtime.language.project import disk, real

# What may be written: data. Python, tests and btr.yaml, which says what may run, are a person's.
SORTS = {"trees": (".yaml", "tree"), "skills": (".yaml", "skills")}
LABEL = "assistant"


class FileDraft:
    """A file that is about to be written."""

    def __init__(self, site: Site, path: str, text: str, old: str = "") -> None:
        self.site = site
        site.fits(text)
        self.path = site.inside(path)
        parts = self.path.relative_to(real(site.root)).parts
        suffix, self.kind = SORTS.get(parts[0], ("", "")) if len(parts) > 1 else ("", "")
        if not suffix or self.path.suffix != suffix or any(part.startswith(".") for part in parts):
            raise BtError(f"`{path:.80}` may not be written", "write a .yaml below trees/ or skills/")
        self.before = disk.read_or_nothing(self.path).decode("utf-8", "replace")
        whole = self.replaced(old, text) if old else text
        self.text = whole if whole.endswith("\n") else f"{whole}\n"

    def replaced(self, old: str, text: str) -> str:
        """The file with a part replaced, which has to be there once."""
        times = self.before.count(old)
        if times != 1:
            raise BtError(f"`old` is {times} times in {self.site.shown(self.path)}", "give a part that is there once")
        return self.before.replace(old, text)

    def diff(self) -> str:
        name = self.site.shown(self.path)
        lines = difflib.unified_diff(
            self.before.splitlines(), self.text.splitlines(), name if self.before else "/dev/null", name, lineterm=""
        )
        return printed("\n".join(lines))

    def sound(self) -> str:
        """Checks the text; returns its faults in words. Raises when it has errors and those are not allowed."""
        faults = faults_of(self.site, self.text, self.kind)
        told = fault_rows.text(faults)
        if any(fault.severity == "error" for fault in faults) and "invalid" not in self.site.allow:
            raise BtError(f"nothing was written: the text has faults\n{told}", "mend them, then write it again")
        return told

    def question(self) -> str:
        """Returns what the person is asked: what the change loosens, then all of it; "" when it loosens nothing."""
        if "loosen" in self.site.allow or self.before == self.text:
            return ""
        sort: Sort = "skills" if self.kind == "skills" else "tree"
        loosens = loosened(self.site.root, self.path, self.before, self.text, sort)
        if not loosens:
            return ""
        listed = "\n".join(f"- {printed(each)}" for each in loosens)
        return f"The {LABEL} wants to write {self.site.shown(self.path)}, and takes away:\n{listed}\n{self.diff()}"

    def agreed(self) -> None:
        """Raises when the change loosens something and the person has not agreed to this very change."""
        question = self.question()
        if question and question not in self.site.agreed:
            loosens = " ".join(line[2:] + ";" for line in question.splitlines() if line.startswith("- "))
            raise BtError(
                f"nothing was written: a person has to agree, for {loosens.rstrip(';')}",
                "the client has to show them questions; or they start: btr serve mcp --allow loosen",
            )
        self.site.agreed.discard(question)

    def write(self) -> None:
        disk.folder(self.path.parent)
        disk.write(self.path, self.text)


def question(site: Site, given: Mapping[str, Any]) -> str:
    """Returns the question to the person before a write that takes an interlock away; "" for another one."""
    draft = FileDraft(site, str(given["path"]), str(given["text"]), str(given.get("old", "")))
    draft.sound()
    return draft.question()


def write(site: Site, path: str, text: str, old: str = "", why: str = "") -> Answer:
    """Writes a file that validates, or a part of it. The person sees the change, and agrees to what it loosens."""
    draft = FileDraft(site, path, text, old)
    told, diff = draft.sound(), draft.diff()
    if draft.before == draft.text:
        return Answer(f"{path} says that already", {"written": False, "file": site.shown(draft.path)})
    draft.agreed()
    reason = f" ({printed(why)[:200]})" if why else ""
    site.show(f"{LABEL} writes {site.shown(draft.path)}{reason}\n{diff}")
    draft.write()
    site.log.append(site.shown(draft.path))
    changes = f"\n{diff}" if draft.before and not old else ""  # else the assistant has just said them
    return Answer(
        paged(f"wrote {site.shown(draft.path)}; {told}{changes}").text,
        {"written": True, "file": site.shown(draft.path)},
    )


TOOLS = (
    Tool(
        "write", "Write a tree or a manifest of the project; it must validate, and the person sees the change.",
        {"path": text("trees/patrol.yaml"), "text": text(), "old": text("the part that `text` replaces"),
         "why": text()}, write, ("path", "text"), reads=False,
        returns={"written": {"type": "boolean"}, "file": text()}, confirm=question,
    ),
)  # fmt: skip
