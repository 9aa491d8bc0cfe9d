"""Every file of a project, checked. A changed file is checked again at once, and its dependants a little later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bt_author.lsp import graph
from bt_author.lsp.document import Content, Document, DocumentLoader, DocumentSite, interface
from bt_author.lsp.text import BOM, Text
from bt_runtime.language import guide, manifest, project, source
from bt_runtime.language.expression import ExpressionError, Template
from bt_runtime.language.faults.diagnostic import Diagnostic
from bt_runtime.language.import_policy import ImportPolicy, policy_of
from bt_runtime.language.manifest import Manifest
from bt_runtime.language.project import disk, real
from bt_runtime.language.settings import read_project
from bt_runtime.language.source.pause import PausedCollection
from bt_runtime.language.values import inside

LARGEST = 4_000_000  # bytes of a file that is read without being open
Files = Callable[[Path], Iterable[tuple[Path, Content]]]  # lists the files of a folder
Sort = Callable[[Path], Content | None]  # tells the sort of a file's content


class Workspace:
    """The files of one folder. `root`: the project or a folder above it; `files` and `sort` decide which files
    belong to it.

    The caller resolves paths, because that takes longer than most answers."""

    def __init__(self, root: Path, files: Files, sort: Sort) -> None:
        self.root = real(root)
        self.project = project.find_root(self.root)  # None: a folder with trees, or with several projects
        self.files, self.sort = files, sort
        self.documents: dict[Path, Document] = {}
        self.texts: dict[Path, Text] = {}  # texts of open files, which count instead of the disk
        self.queue: dict[Path, bool] = {}  # files to be checked again; True: from their text on
        self.dependents: dict[Path, set[Path]] = {}
        self.published: dict[Path, list[Diagnostic]] = {}
        self.across: dict[Path, list[Diagnostic]] = {}  # diagnostics that need all trees together
        self.fresh: set[Path] = set()  # looked at since faults were told last
        self.renew()

    def renew(self) -> None:
        """Clears what is cached of project files: kinds of their own, and import rules."""
        self.sites: dict[Path | None, DocumentSite] = {}  # sites of documents by project
        self.homes: dict[Path, Path | None] = {}  # the project of a folder
        self.import_policies: dict[Path, ImportPolicy] = {}

    def site(self, path: Path) -> DocumentSite:
        """The project of a file: the nearest one upwards, else that of the workspace."""
        home = self.home(path.parent)
        if home not in self.sites:
            self.sites[home] = DocumentSite(home)
        return self.sites[home]

    def home(self, folder: Path) -> Path | None:
        if folder not in self.homes:
            own = project.find_root(folder) if folder.is_relative_to(self.root) else None
            self.homes[folder] = own or self.project
        return self.homes[folder]

    def import_policy(self, folder: Path) -> ImportPolicy:
        home = self.home(folder) or folder
        if home not in self.import_policies:
            self.import_policies[home] = policy_of(home)
        return self.import_policies[home]

    def forget(self) -> None:
        """Clears the cached names after files were added or removed."""
        for site in self.sites.values():
            site.forget()

    # What is there ---------------------------------------------------------------------------

    def scan(self) -> None:
        """Queues all files for checking, without reading them yet."""
        for path, _ in self.files(self.root):
            self.queue.setdefault(real(path), True)

    def opened(self, path: Path, text: str) -> None:
        new = path not in self.documents and not path.exists()
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

    def left_out(self, path: Path) -> None:
        """A file has another name for its editor, though it is still on the disk under this one."""
        self.texts.pop(path, None)
        self.queue.pop(path, None)
        before = self.documents.pop(path, None)
        if before is not None:
            self.leave(before, None)
        self.names_moved()

    def changed_on_disk(self, paths: Iterable[Path]) -> None:
        """Files were written, created or removed outside the editor. A written file is read again; a created or
        removed one also resolves names again."""
        come_or_gone = False
        for path in paths:
            if path.name == project.PROJECT_FILE:
                self.renew()
                come_or_gone = True
            if path.suffix == ".py":  # what a manifest says of it may be otherwise now
                self.queue |= dict.fromkeys((u.path for u in self.documents.values() if u.content == "skills"), True)
                continue
            if path not in self.documents and self.sort(path) is None:
                continue  # not a file of ours
            come_or_gone |= (path in self.documents) != (path.exists() or path in self.texts)
            if path not in self.texts:
                self.queue[path] = True
        if come_or_gone:
            self.names_moved()

    def names_moved(self) -> None:
        """Called when a file was added or removed: checks every tree again that names other files."""
        self.forget()
        for path, document in self.documents.items():
            if document.content == "tree":
                self.queue.setdefault(path, True)

    def is_open(self, path: Path) -> bool:
        """True for a file of an editor, which may not be on the disk yet."""
        return path in self.texts

    def text(self, path: Path) -> Text | None:
        if path in self.texts:
            return self.texts[path]
        document = self.documents.get(path)
        return document.text if document is not None else self.read_text(path)

    def read_text(self, path: Path) -> Text | None:
        try:
            data = disk.read(path, LARGEST)
        except OSError:
            return None
        return Text(data.decode("utf-8", "surrogateescape"))

    # Checking --------------------------------------------------------------------------------

    def document(self, path: Path) -> Document | None:
        """Returns a file, read at least once."""
        return self.documents.get(path) or self.read(path)

    def read(self, path: Path) -> Document | None:
        """Reads a file and checks it alone; the checks against other files are queued."""
        before = self.documents.get(path)
        text = self.texts.get(path) or self.read_text(path)
        content = self.sort(path) if before is None else before.content
        if text is None or content is None:
            if before is not None:
                del self.documents[path]
                self.fresh.add(path)
                self.leave(before, None)
            return None
        document = Document(path, content, text)
        if before is not None:
            document.good, document.root = before.good, before.root
        with PausedCollection():
            getattr(self, f"_{content}")(document)
        self.documents[path] = document
        self.fresh.add(path)
        self.leave(before, document)
        return document

    def leave(self, before: Document | None, now: Document | None) -> None:
        """Queues the files that depend on a changed one, if its interface has changed."""
        path = now.path if now is not None else before.path if before is not None else Path()
        if interface(before) == interface(now):
            return
        for other in self.dependents.get(path, ()):
            self.queue.setdefault(other, now is None or now.content == "skills")
        if now is not None and now.content == "skills" and before is not None:
            for document in self.documents.values():  # a skill that was unknown may be one now
                if any(d.code == "BT012" for d in document.alone):
                    self.queue.setdefault(document.path, True)

    def _tree(self, document: Document) -> None:
        loader = DocumentLoader(self, document)
        parsed = source.parse(_readable(document.text), str(document.path))
        document.root = parsed.root or document.root
        document.spec, document.lost = loader.alone(parsed, document.path.parent)
        document.alone = [d for d in loader.diagnostics.items if d.file == str(document.path)]
        document.named = loader.manifest_paths
        document.good = document.spec or document.good
        for named in loader.manifest_paths:
            self.dependents.setdefault(named, set()).add(document.path)

    def _skills(self, document: Document) -> None:
        document.manifest = manifest.parse(
            _readable(document.text), str(document.path), document.path.parent, self.import_policy(document.path.parent)
        )
        document.root = source.parse(_readable(document.text), str(document.path)).root
        document.alone = document.manifest.diagnostics

    def _plan(self, document: Document) -> None:
        document.alone = list(guide.parse(document.text.yaml, str(document.path)).diagnostics)

    def _project(self, document: Document) -> None:
        read = read_project(document.path.parent, document.text.yaml)
        document.alone = list(read.diagnostics)
        document.root = source.parse(document.text.yaml, str(document.path)).root

    def _prompt(self, document: Document) -> None:
        whole = source.Scalar(document.text.yaml, document.text.yaml, True, _START, _START)
        try:
            Template(document.text.yaml)
        except ExpressionError as error:
            start, end = (document.text.place(document.text.bom + at) for at in (error.start, error.end))
            span = inside(whole, 0, 1)._replace(line=start[0], column=start[1], end_line=end[0], end_column=end[1])
            document.alone = [error.diagnostic(str(document.path), span)]

    def link(self, document: Document) -> None:
        """Checks a tree together with the trees that it includes."""
        if document.content != "tree":
            return
        self.fresh.add(document.path)
        for target in document.targets():
            self.dependents.get(target, set()).discard(document.path)
        document.linked = []
        if document.spec is None:
            document.includes = []
            return
        loader = DocumentLoader(self, document)
        loader.link(document)
        document.linked = [d for d in loader.diagnostics.items if d.file == str(document.path)]
        for target in (*document.targets(), *document.named):
            self.dependents.setdefault(target, set()).add(document.path)

    def manifest(self, path: Path) -> Manifest:
        document = self.document(path)
        if document is None or document.manifest is None:
            return manifest.read(path, str(path), self.import_policy(path.parent))
        return document.manifest

    def check(self, path: Path) -> None:
        """Checks one file now."""
        again = self.queue.pop(path, True)
        document = self.read(path) if again or path not in self.documents else self.documents[path]
        if document is not None:
            self.link(document)

    def settle(self) -> None:
        """Runs all queued checks. For tests, and for programs without an editor."""
        while self.queue:
            self.check(next(iter(self.queue)))

    def diagnostics(self) -> Iterator[tuple[Path, list[Diagnostic]]]:
        """The diagnostics of each file whose faults have changed since the last call."""
        across = graph.faults(self.documents)
        moved = {path for path in {*across, *self.across} if across.get(path) != self.across.get(path)}
        self.across, looked, self.fresh = across, self.fresh | moved, set()
        for path in looked:
            document = self.documents.get(path)
            told = path.is_relative_to(self.root) or path in self.texts  # what is shipped is looked at, and not told
            found = self.faults(document) if document is not None and told else []
            if self.published.get(path, []) != found or (document is not None and told and path not in self.published):
                self.published[path] = found
                yield path, found

    def faults(self, document: Document) -> list[Diagnostic]:
        every = {*document.alone, *document.linked, *self.across.get(document.path, ())}
        return sorted(every, key=lambda fault: (fault.span or (), fault.code))


class _START:
    line = column = index = 0


def _readable(text: Text) -> str | bytes:
    """Returns the text as on disk, so that the loader reports bytes that are not UTF-8."""
    if text.source.isascii() or not any(0xDC80 <= ord(sign) <= 0xDCFF for sign in text.source):
        return text.yaml
    return text.source.removeprefix(BOM).encode("utf-8", "surrogateescape")
