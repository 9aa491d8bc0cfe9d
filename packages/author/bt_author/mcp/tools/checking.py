"""Tools that check, fix, format, draw and compare trees. None of them writes a file."""

from __future__ import annotations

from collections.abc import Iterable

from bt_author.mcp.tools import fault_rows
from bt_author.mcp.tools.answer import Answer, paged, rows
from bt_author.mcp.tools.site import DRAFT, Site, is_text
from bt_author.mcp.tools.tool import FAULTS, PAGE, PAGED, TREE, Tool, count, text
from bt_runtime.language import manifest
from bt_runtime.language.difference import compare, lines
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic
from bt_runtime.language.import_policy import policy_of
from bt_runtime.language.loader import Checked
from bt_runtime.language.project import disk
from bt_runtime.language.project.selection import Selected, content_of, select
from bt_runtime.language.tidy import tidy
from bt_runtime.run.check_file import check, gathered, mended
from bt_runtime.run.view.render import draw, sketch


def validate(site: Site, tree: str = "", kind: str = "tree", page: int = 1) -> Answer:
    """Checks a tree, a file, a text, or without a name the whole project."""
    faults = faults_of(site, tree, kind)
    listed = [fault_rows.line(fault) for fault in faults]
    part = rows(listed, page, fault_rows.MOST_FAULTS)
    sound = not any(fault.severity == "error" for fault in faults)
    shown = faults[(page - 1) * fault_rows.MOST_FAULTS : page * fault_rows.MOST_FAULTS]
    data = {"sound": sound, "faults": [fault_rows.data(fault) for fault in shown], **part.data()}
    return Answer(part.text or "no faults", data)


def faults_of(site: Site, what: str, kind: str = "tree") -> list[Diagnostic]:
    """Returns the faults of a tool's input."""
    return gathered(_checked(site, what, kind))[0]


def _checked(site: Site, what: str, kind: str) -> Iterable[Checked]:
    if not what:
        return [check(file) for file in select([str(site.root)])]
    if is_text(what):
        return [text_checked(site, what, kind)]
    path = site.root / what
    if what.endswith((".yaml", ".yml", ".md")) and path.is_file():
        return [check(Selected(site.inside(what), content_of(path) or "tree"))]
    return [site.checked(what)]


def text_checked(site: Site, text: str, kind: str) -> Checked:
    """Checks a text as a tree or as a manifest of this project."""
    if kind == "tree":
        return site.checked(text)
    site.fits(text)
    home = site.root / "skills"
    read = manifest.parse(text, DRAFT, home, policy_of(site.root))
    return Checked(None, [*read.diagnostics, *manifest.python_of(read, DRAFT).faults], {DRAFT: text})


def source(site: Site, tree: str) -> str:
    """Returns a tree's text, given as text, name or path."""
    if is_text(tree):
        site.fits(tree)
        return tree
    return disk.read_text(site.located(tree))


def format(site: Site, tree: str) -> Answer:
    """Formats a text as `btr fmt` does."""
    made = tidy(source(site, tree))
    if made is None:
        raise BtError("this cannot be read as YAML", "`validate` says where")
    return Answer(made, {"text": made})


def fix(site: Site, tree: str, kind: str = "tree") -> Answer:
    """Applies every fix that is sure; gives the new text and the faults that are left."""
    before = source(site, tree)
    made, total = mended(before, DRAFT, lambda text: text_checked(site, text + _line(text), kind))
    left = gathered([text_checked(site, made + _line(made), kind)])[0]
    said = f"{total} mended; left: {fault_rows.text(left)}\n\n{made}"
    return Answer(said, {"text": made, "mended": total, "faults": [fault_rows.data(f) for f in left[:20]]})


def _line(text: str) -> str:
    """Appends a line break to a text of one line, which would otherwise be taken for a name."""
    return "" if is_text(text) else "\n"


def render(site: Site, tree: str, form: str = "svg", depth: int | None = None, page: int = 1) -> Answer:
    """Draws a tree: as an image, and as text."""
    made = sketch(site.checked(tree).sound(), depth, True)
    part = paged(draw(made, "text"), page)
    picture = draw(made, "svg").encode() if form == "svg" else None
    return Answer(part.text, {"form": form, **part.data()}, picture)


def diff(site: Site, first: str, second: str, page: int = 1) -> Answer:
    """Returns the differences between two trees, node by node."""
    changes = compare(site.checked(first).sound(), site.checked(second).sound(), False)
    part = rows(list(lines(changes)), page)
    return Answer(part.text or "no difference", {"changes": len(changes), **part.data()})


_KIND = {"enum": ["tree", "skills"]}
TOOLS = (
    Tool(
        "validate", "Check a tree or text; without `tree` the whole project. Faults come with fixes as edits.",
        {"tree": TREE, "kind": _KIND, "page": PAGE}, validate, returns={**FAULTS, **PAGED},
    ),
    Tool("format", "Lay a text out.", {"tree": TREE}, format, ("tree",), returns={"text": text()}),
    Tool(
        "fix", "Apply every sure fix to a text, and show what is left.", {"tree": TREE, "kind": _KIND}, fix, ("tree",),
        returns={"text": text(), "mended": {"type": "integer"}, "faults": {"type": "array"}},
    ),
    Tool(
        "render", "Draw a tree as an image and as text.",
        {"tree": TREE, "form": {"enum": ["svg", "text"]}, "depth": count(), "page": PAGE}, render, ("tree",),
        returns={"form": text(), **PAGED},
    ),
    Tool(
        "diff", "Compare two trees node by node.", {"first": TREE, "second": TREE, "page": PAGE}, diff,
        ("first", "second"), returns={"changes": {"type": "integer"}, **PAGED},
    ),
)  # fmt: skip
