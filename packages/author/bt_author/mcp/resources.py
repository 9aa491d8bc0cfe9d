"""The resources that an assistant can read: the language page, kinds, faults, trees, manifests, and stories of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from bt_author.mcp.tools import looking, recorded
from bt_author.mcp.tools.answer import PAGE
from bt_author.mcp.tools.site import Site
from bt_runtime.journal import folder
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import printed
from bt_runtime.language.kinds.registry import registry_of
from bt_runtime.language.project import disk

SCHEME = "btr://"
MOST_LISTED = 100  # resources of each sort
MOST = 8 * PAGE  # characters of one resource
YAML, MARKDOWN, PLAIN = "application/yaml", "text/markdown", "text/plain"


class Entry(NamedTuple):
    uri: str
    title: str
    type: str


class Sort(NamedTuple):
    """A family of resources such as `btr://tree/{name}`."""

    about: str
    type: str
    names: Callable[[Site], list[str]]
    read: Callable[[Site, str], str]


def language() -> str:
    return Path(__file__).with_name("language.md").read_text("utf-8")


def _manifest(site: Site, name: str) -> str:
    known = project.names("skills", root=site.root)
    path = project.find("skills", name, root=site.root) if name in known else None
    if path is None:
        raise BtError(f"there is no manifest `{name:.60}`", f"manifests: {', '.join(known[:20])}")
    return disk.read_text(path)


def _runs(site: Site) -> list[str]:
    return [path.stem for path in reversed(folder.journals(recorded.place(site)))]


SORTS: dict[str, Sort] = {
    "kind": Sort(
        "how a kind of node is written", MARKDOWN, lambda site: [kind.name for kind in registry_of(site.root)],
        lambda site, name: looking.explain(site, name).text,
    ),
    "fault": Sort("what a fault's code means", MARKDOWN, lambda site: [], lambda site, name: _fault(site, name)),
    "tree": Sort(
        "a tree", YAML, lambda site: project.names("trees", root=site.root),
        lambda site, name: disk.read_text(site.located(name)),
    ),
    "manifest": Sort("skills", YAML, lambda site: project.names("skills", root=site.root), _manifest),
    "run": Sort("what happened in a run", PLAIN, _runs, lambda site, name: recorded.runs(site, name).text),
}  # fmt: skip


def _fault(site: Site, name: str) -> str:
    if not name[-1:].isdecimal():
        raise BtError(f"`{name:.40}` is no code", "such as BT012")
    return looking.explain(site, name).text


def listed(site: Site) -> Iterator[Entry]:
    yield Entry(f"{SCHEME}language", "the language on one page", MARKDOWN)
    for name, sort in SORTS.items():
        for each in sort.names(site)[:MOST_LISTED]:
            yield Entry(f"{SCHEME}{name}/{each}", f"{each}: {sort.about}", sort.type)


def read(site: Site, uri: str) -> tuple[str, str]:
    """Returns the text and the type of a resource."""
    sort_name, _, name = unquote(uri.removeprefix(SCHEME)).partition("/")
    if uri == f"{SCHEME}language":
        return language(), MARKDOWN
    sort = SORTS.get(sort_name) if uri.startswith(SCHEME) and name else None
    if sort is None:
        raise BtError(f"there is no resource `{uri:.80}`", f"they begin with {SCHEME}: {', '.join(SORTS)}")
    text = printed(sort.read(site, name))
    return (text if len(text) <= MOST else f"{text[:MOST]}\n… cut"), sort.type
