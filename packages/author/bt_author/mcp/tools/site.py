"""The project that an assistant works on: the files that it may name, and the person's permissions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.loader import Checked, Loader
from bt_runtime.language.project import real, trust
from bt_runtime.run.run import Tree, load

# Texts that an assistant handed over, kept under short names: it need not send the same tree again with every call.

PREFIX = "draft:"
MOST = 32  # the oldest is forgotten
FIELDS = ("tree", "first", "second", "text")  # parameters that hold a whole text


@dataclass
class Drafts:
    texts: dict[str, str] = field(default_factory=dict)  # texts by name, the oldest first

    def keep(self, text: str) -> str:
        """The text's name: the same text has the same name, in every session."""
        name = PREFIX + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        self.texts.pop(name, None)
        self.texts[name] = text
        while len(self.texts) > MOST:
            del self.texts[next(iter(self.texts))]
        return name

    def filled(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call with the texts in the places of their names."""
        return {key: self._text(value) if key in FIELDS else value for key, value in given.items()}

    def _text(self, value: Any) -> Any:
        if not isinstance(value, str) or not value.startswith(PREFIX) or "\n" in value:
            return value
        if value not in self.texts:
            raise BtError(f"`{value:.40}` is kept no longer", "hand over the text again")
        return self.texts[value]

    def told(self, given: Mapping[str, Any], made: Any) -> str:
        """Names the newest text of a call, when it was not known: the one that was made, or else the one that was
        given."""
        texts = [given.get("tree"), made]
        text = next((each for each in reversed(texts) if isinstance(each, str) and "\n" in each), None)
        known = set(self.texts)
        name = self.keep(text) if text is not None else ""
        return f"\nkept as {name}" if name and name not in known else ""


Allowed = Literal["try", "test", "invalid", "loosen"]
ALLOWED: dict[Allowed, str] = {
    "try": "`try`, `fuzz` and `check` of trees with Python nodes of the project, and `fork`",
    "test": "`test`: the project's own tests",
    "invalid": "`write` of a file that has faults",
    "loosen": "`write` of what takes an interlock away: a policy, a property, `confirm`, `at_most`, a bound, …",
}
MOST_TEXT = 200_000  # characters of a tree that is handed over as text


def _quiet(text: str) -> None:
    """Shows nothing."""


@dataclass(frozen=True)
class Site:
    """A project's root, the person's permissions, and a function that shows them a written file."""

    root: Path
    allow: frozenset[str] = frozenset()
    show: Callable[[str], object] = _quiet
    log: list[str] = field(default_factory=list)  # files written in this session, in words
    drafts: Drafts = field(default_factory=Drafts)
    agreed: set[str] = field(default_factory=set)  # questions that the person has said yes to, and that were not used

    def permits(self, what: Allowed) -> bool:
        return what in self.allow and trust.knows(self.root)

    def need(self, what: Allowed) -> None:
        """Raises unless the person allowed this and trusts the folder."""
        if what not in self.allow:
            raise BtError(f"the person has not allowed {ALLOWED[what]}", f"they can: btr serve mcp --allow {what}")
        if not trust.knows(self.root):
            raise BtError(f"the folder {self.root} is not trusted", f"the person can say: btr trust {self.root}")

    def inside(self, name: str) -> Path:
        """The path of a file in the project; BtError for one outside, links followed."""
        if "\0" in name or len(name) > 1000:
            raise BtError(f"`{name[:60]!r}` is no name of a file", "write a path below the project")
        path = real(self.root / name)
        if not path.is_relative_to(real(self.root)):
            raise BtError(f"`{name:.80}` lies outside the project", "name a file of the project")
        return path

    def located(self, name: str) -> Path:
        """The file of a tree: of this project, or a shipped one."""
        if len(name) > 1000 or "\0" in name:
            raise BtError(f"`{name:.60}` is no name of a tree", "write its name, its path, or its YAML text")
        if name.endswith((".yaml", ".yml")) or name.startswith((".", "/")):
            path = self.inside(name)
            if path.is_file():
                return path
        found = project.find_tree(name, self.root).path
        homes = (self.root, *project.installed("trees"))
        if found is None or not any(real(found).is_relative_to(real(home)) for home in homes):
            known = project.names("trees", root=self.root)
            raise BtError(
                f"there is no tree `{name:.60}`",
                did_you_mean(name, known, f"trees: {', '.join(known[:20])}"),
            )
        return found

    def checked(self, tree: str) -> Checked:
        """Loads a tree by name or path, or from YAML text, and checks it."""
        if is_text(tree):
            self.fits(tree)
            return self.loader().text(tree, DRAFT, self.root / "trees")
        return self.loader().file(self.located(tree))

    def loaded(self, tree: str) -> Tree:
        """Loads a tree for a run; raises Faults."""
        self.fits(tree)
        return load(tree if is_text(tree) else self.located(tree), project=self.root)

    def loader(self) -> Loader:
        return Loader(self.root)

    def fits(self, text: str) -> None:
        if len(text) > MOST_TEXT:
            raise BtError(f"a text of {len(text):,} characters is too long", f"at most {MOST_TEXT:,}")

    def shown(self, path: Path) -> str:
        return str(path.relative_to(real(self.root))) if path.is_relative_to(real(self.root)) else path.name


DRAFT = "draft"  # the file name in faults of a text


def is_text(tree: str) -> bool:
    """True for YAML text; a name or a path has no line break."""
    return "\n" in tree
