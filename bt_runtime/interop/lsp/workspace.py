"""Every file of a project, read and checked; what changes is checked again, and what depends on it a little later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bt_runtime import project
from bt_runtime.faults.diagnostic import Diagnostic
from bt_runtime.interop.lsp import graph
from bt_runtime.interop.lsp.text import BOM, Text
from bt_runtime.interop.lsp.unit import Content, Unit, UnitLoader, interface
from bt_runtime.language import guide, manifest, source
from bt_runtime.language.expression import ExpressionError, Template
from bt_runtime.language.kinds.registry import registry_of
from bt_runtime.language.manifest import Manifest
from bt_runtime.language.reach import Reach, reach_of
from bt_runtime.language.source.pause import PausedCollection
from bt_runtime.language.values import inside
from bt_runtime.run.config import read_project

LARGEST = 4_000_000  # bytes of a file that is read without being open
Files = Callable[[Path], Iterable[tuple[Path, Content]]]  # of a folder
Sort = Callable[[Path], Content | None]  # what a file holds


class Workspace:
    """`root`: a folder, the project or one above it; `files` and `sort` say what belongs to it. Paths are resolved by
    whoever brings them: it takes longer than most answers."""

    def __init__(self, root: Path, files: Files, sort: Sort) -> None:
        self.root = root.resolve()
        self.project = project.find_root(self.root)  # None: only a folder with trees
        self.files, self.sort = files, sort
        self.units: dict[Path, Unit] = {}
        self.texts: dict[Path, Text] = {}  # of files that are open: what counts instead of the disk
        self.queue: dict[Path, bool] = {}  # to be looked at again; True: from its text on
        self.dependents: dict[Path, set[Path]] = {}
        self.published: dict[Path, list[Diagnostic]] = {}
        self.across: dict[Path, list[Diagnostic]] = {}  # what only all trees together tell
        self.fresh: set[Path] = set()  # looked at since faults were told last
        self.renew()

    def renew(self) -> None:
        """What a project file says of all files: kinds of its own, and where Python may come from."""
        self.registry = registry_of(self.project)
        self.reaches: dict[Path, Reach] = {}
        self.forget()

    def reach(self, folder: Path) -> Reach:
        home = self.project or folder
        if home not in self.reaches:
            self.reaches[home] = reach_of(home)
        return self.reaches[home]

    def forget(self) -> None:
        """Files have come or gone: where a name leads is asked anew."""
        self.found: dict[tuple[str, Path], Path | str] = {}
        self.listed: dict[str, list[str]] = {}
        self.manifests: dict[str, Path | None] = {}

    def manifest_named(self, name: str) -> Path | None:
        if name not in self.manifests:
            path = project.find("skills", name, root=self.project)
            self.manifests[name] = path.resolve() if path is not None else None
        return self.manifests[name]

    def names(self, folder: project.Folder) -> list[str]:
        if folder not in self.listed:
            self.listed[folder] = list(project.names(folder, root=self.project))
        return self.listed[folder]

    # What is there ---------------------------------------------------------------------------

    def scan(self) -> None:
        """All files are to be looked at; nothing is read yet."""
        for path, _ in self.files(self.root):
            self.queue.setdefault(path.resolve(), True)

    def opened(self, path: Path, text: str) -> None:
        new = path not in self.units and not path.exists()
        self.texts[path] = Text(text)
        self.published.pop(path, None)  # whoever opens a file is told of it, also that nothing is wrong
        self.queue[path] = True
        if new:
            self.names_moved()

    def edited(self, path: Path, text: Text) -> None:
        self.texts[path] = text
        self.queue[path] = True

    def closed(self, path: Path) -> None:
        self.texts.pop(path, None)
        self.changed_on_disk([path])

    def changed_on_disk(self, paths: Iterable[Path]) -> None:
        """Files were written, made or removed by somebody. What others see of one that was written is found when it is
        read; where names lead is asked anew when one has come or gone."""
        come_or_gone = False
        for path in paths:
            if path.name == project.PROJECT_FILE:
                self.renew()
                come_or_gone = True
            if path.suffix == ".py":  # what a manifest says of it may be otherwise now
                self.queue |= dict.fromkeys((u.path for u in self.units.values() if u.content == "skills"), True)
                continue
            if path not in self.units and self.sort(path) is None:
                continue  # nothing of ours
            come_or_gone |= (path in self.units) != (path.exists() or path in self.texts)
            if path not in self.texts:
                self.queue[path] = True
        if come_or_gone:
            self.names_moved()

    def names_moved(self) -> None:
        """A file has come or gone: every tree that names another is looked at again."""
        self.forget()
        for path, unit in self.units.items():
            if unit.content == "tree":
                self.queue.setdefault(path, True)

    def text(self, path: Path) -> Text | None:
        if path in self.texts:
            return self.texts[path]
        unit = self.units.get(path)
        return unit.text if unit is not None else self.read_text(path)

    def read_text(self, path: Path) -> Text | None:
        try:
            if not path.is_file() or path.stat().st_size > LARGEST:
                return None
            data = path.read_bytes()
        except OSError:
            return None
        return Text(data.decode("utf-8", "surrogateescape"))

    # Checking --------------------------------------------------------------------------------

    def unit(self, path: Path) -> Unit | None:
        """A file, read at least once."""
        return self.units.get(path) or self.read(path)

    def read(self, path: Path) -> Unit | None:
        """The file by itself; what depends on how it looks from outside is put into the queue."""
        before = self.units.get(path)
        text = self.texts.get(path) or self.read_text(path)
        content = self.sort(path) if before is None else before.content
        if text is None or content is None:
            if before is not None:
                del self.units[path]
                self.fresh.add(path)
                self.leave(before, None)
            return None
        unit = Unit(path, content, text)
        if before is not None:
            unit.good, unit.root = before.good, before.root
        with PausedCollection():
            getattr(self, f"_{content}")(unit)
        self.units[path] = unit
        self.fresh.add(path)
        self.leave(before, unit)
        return unit

    def leave(self, before: Unit | None, now: Unit | None) -> None:
        """Who must look again since a file looks another way."""
        path = now.path if now is not None else before.path if before is not None else Path()
        if interface(before) == interface(now):
            return
        for other in self.dependents.get(path, ()):
            self.queue.setdefault(other, now is None or now.content == "skills")
        if now is not None and now.content == "skills" and before is not None:
            for unit in self.units.values():  # a skill that was unknown may be one now
                if any(d.code == "BT012" for d in unit.alone):
                    self.queue.setdefault(unit.path, True)

    def _tree(self, unit: Unit) -> None:
        loader = UnitLoader(self, unit)
        document = source.parse(_readable(unit.text), str(unit.path))
        unit.root = document.root or unit.root
        unit.spec, unit.lost = loader.alone(document, unit.path.parent)
        unit.alone = [d for d in loader.findings.items if d.file == str(unit.path)]
        unit.named = loader.manifest_paths
        unit.good = unit.spec or unit.good
        for named in loader.manifest_paths:
            self.dependents.setdefault(named, set()).add(unit.path)

    def _skills(self, unit: Unit) -> None:
        unit.manifest = manifest.parse(
            _readable(unit.text), str(unit.path), unit.path.parent, self.reach(unit.path.parent)
        )
        unit.root = source.parse(_readable(unit.text), str(unit.path)).root
        unit.alone = unit.manifest.diagnostics

    def _plan(self, unit: Unit) -> None:
        unit.alone = list(guide.parse(unit.text.yaml, str(unit.path)).diagnostics)

    def _project(self, unit: Unit) -> None:
        read = read_project(unit.path.parent, unit.text.yaml)
        unit.alone = list(read.diagnostics)
        unit.root = source.parse(unit.text.yaml, str(unit.path)).root

    def _prompt(self, unit: Unit) -> None:
        whole = source.Scalar(unit.text.yaml, unit.text.yaml, True, _START, _START)
        try:
            Template(unit.text.yaml)
        except ExpressionError as error:
            start, end = (unit.text.place(unit.text.bom + at) for at in (error.start, error.end))
            span = inside(whole, 0, 1)._replace(line=start[0], column=start[1], end_line=end[0], end_column=end[1])
            unit.alone = [error.diagnostic(str(unit.path), span)]

    def link(self, unit: Unit) -> None:
        """A tree with those it includes."""
        if unit.content != "tree":
            return
        self.fresh.add(unit.path)
        for target in unit.targets():
            self.dependents.get(target, set()).discard(unit.path)
        unit.linked = []
        if unit.spec is None:
            unit.includes = []
            return
        loader = UnitLoader(self, unit)
        loader.link(unit)
        unit.linked = [d for d in loader.findings.items if d.file == str(unit.path)]
        for target in (*unit.targets(), *unit.named):
            self.dependents.setdefault(target, set()).add(unit.path)

    def manifest(self, path: Path) -> Manifest:
        unit = self.unit(path)
        if unit is None or unit.manifest is None:
            return manifest.read(path, str(path), self.reach(path.parent))
        return unit.manifest

    def check(self, path: Path) -> None:
        """One file, now."""
        again = self.queue.pop(path, True)
        unit = self.read(path) if again or path not in self.units else self.units[path]
        if unit is not None:
            self.link(unit)

    def settle(self) -> None:
        """Everything that waits. For tests, and for programs that have no editor waiting."""
        while self.queue:
            self.check(next(iter(self.queue)))

    def diagnostics(self) -> Iterator[tuple[Path, list[Diagnostic]]]:
        """What was found in each file of the workspace whose faults have changed since this was asked last."""
        across = graph.faults(self.units)
        moved = {path for path in {*across, *self.across} if across.get(path) != self.across.get(path)}
        self.across, looked, self.fresh = across, self.fresh | moved, set()
        for path in looked:
            unit = self.units.get(path)
            told = path.is_relative_to(self.root) or path in self.texts  # what is shipped is looked at, and not told
            found = self.faults(unit) if unit is not None and told else []
            if self.published.get(path, []) != found or (unit is not None and told and path not in self.published):
                self.published[path] = found
                yield path, found

    def faults(self, unit: Unit) -> list[Diagnostic]:
        every = {*unit.alone, *unit.linked, *self.across.get(unit.path, ())}
        return sorted(every, key=lambda fault: (fault.span or (), fault.code))


class _START:
    line = column = index = 0


def _readable(text: Text) -> str | bytes:
    """As the loader would have it from the disk: bytes that are no UTF-8 are its to tell."""
    if text.source.isascii() or not any(0xDC80 <= ord(sign) <= 0xDCFF for sign in text.source):
        return text.yaml
    return text.source.removeprefix(BOM).encode("utf-8", "surrogateescape")
