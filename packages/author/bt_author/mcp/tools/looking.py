"""Tools that look up kinds of nodes, skills and explanations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bt_author.mcp.tools.answer import Answer, paged, rows
from bt_author.mcp.tools.site import Site
from bt_author.mcp.tools.tool import PAGE, PAGED, Tool, text, texts
from bt_runtime.language import kind_page, manifest, project
from bt_runtime.language.faults.explain import page as fault_page
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.kinds.registry import registry_of

_CODE = re.compile(r"(bt[-o]?)?\d+", re.IGNORECASE)


def kinds(site: Site, names: list[str] | None = None, page: int = 1) -> Answer:
    """Lists the kinds of nodes, or gives the pages of the named ones."""
    if names:
        found = [kind_page.page(kind_page.found(name)) for name in names]
        part = paged("\n\n".join(found), page)
        return Answer(part.text, {"names": list(names), **part.data()})
    registry = registry_of(site.root)
    listed = [f"{kind.name}: {kind.about}" for kind in registry]
    part = rows(listed, page, 60)
    return Answer(part.text, {"names": [kind.name for kind in registry], **part.data()})


def skills(site: Site, manifest: str = "", page: int = 1) -> Answer:
    """Lists the skills of the project's manifests, or of one manifest: name, parameters, sentence."""
    own = list(_manifests(site, manifest))
    lines = [f"{name}/{_signature(kind)}: {kind.data['entry'].sentence}" for name, kind in own]
    part = rows(lines, page)
    hint = "" if lines else "this project has no skill manifest; shipped ones: " + ", ".join(_names(site))
    return Answer(part.text or hint, {"skills": [kind.name for _, kind in own], **part.data()})


def _names(site: Site) -> list[str]:
    return project.names("skills", root=site.root)


def _manifests(site: Site, only: str) -> Iterator[tuple[str, Kind]]:
    """Returns the manifest of this name; without a name, the project's own ones."""
    own = site.root / "skills"
    for name in _names(site):
        path = project.find("skills", name, root=site.root)
        if path is not None and (name == only or (not only and path.is_relative_to(own))):
            yield from ((name, kind) for kind in manifest.read(path).kinds)


def _signature(kind: Kind) -> str:
    takes = ", ".join(_field(field) for field in kind.fields if not field.writes)
    gives = ", ".join(_field(field) for field in kind.fields if field.writes)
    return f"{kind.name}({takes})" + (f" -> {gives}" if gives else "")


def _field(field: Field) -> str:
    said = "|".join(map(str, field.choices)) if field.choices else field.type
    return f"{field.name}: {said}" + ("" if field.required or field.writes else f" = {field.default!r}")


def explain(site: Site, word: str, page: int = 1) -> Answer:
    """Explains a fault, a kind of node or a skill."""
    found = fault_page(word) if _CODE.fullmatch(word.strip()) else kind_page.page(kind_page.found(word))
    part = paged(found, page)
    return Answer(part.text, {"word": word, **part.data()})


TOOLS = (
    Tool(
        "kinds", "List the kinds of nodes, or show how to write the named ones.",
        {"names": texts("such as retry"), "page": PAGE}, kinds, returns={"names": {"type": "array"}, **PAGED},
    ),
    Tool(
        "skills", "List the project's skills: they are leaves of trees.",
        {"manifest": text(), "page": PAGE}, skills, returns={"skills": {"type": "array"}, **PAGED},
    ),
    Tool(
        "explain", "Explain a fault's code, a kind or a skill.", {"word": text("BT012, or retry"), "page": PAGE},
        explain, ("word",), returns={"word": {"type": "string"}, **PAGED},
    ),
)  # fmt: skip
