"""Finds and parses the files of an import. Only `ast` reads them: nothing is imported or run."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from bt_robots.imports.report import Place, Report, fault
from bt_robots.pytrees.values import SourceModule
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk

MOST_BYTES = 500_000  # most bytes in one file
MOST_FILES = 500
DEEPEST = 8  # folders within each other
_SKIPPED = {"__pycache__", "build", "install", "log", "node_modules", "site-packages"}


def parse(data: bytes, shown: str) -> ast.Module:
    """Parses a file. Raises BtError with line and column."""
    if len(data) > MOST_BYTES:
        raise fault(Place(shown, 1, 1), f"more than {MOST_BYTES:,} bytes", "split the file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that a later Python refuses
            return ast.parse(data)
    except SyntaxError as error:
        place = Place(shown, error.lineno or 1, max(error.offset or 1, 1))
        raise fault(place, f"this is no Python that can be read: {error.msg}", "mend it there") from None
    except (RecursionError, MemoryError):
        raise fault(Place(shown, 1, 1), "brackets or operators are nested too deeply", "write it in parts") from None
    except (ValueError, LookupError) as error:
        raise fault(Place(shown, 1, 1), f"this is no Python that can be read: {error}", "save it as UTF-8") from None


def python_files(folder: Path, deep: int = 0) -> list[Path]:
    """The Python files below a folder, in order; links and hidden folders are skipped."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name.startswith(".") or path.name in _SKIPPED:
            continue
        if path.is_dir() and deep < DEEPEST:
            found += python_files(path, deep + 1)
        elif path.suffix == ".py" and path.is_file():
            found.append(path)
        if len(found) > MOST_FILES:
            raise BtError(f"{folder} holds more than {MOST_FILES} Python files", "name a folder within it")
    return found


def has_trees(path: Path) -> bool:
    """Is it a Python file, or a folder with one, that speaks of py_trees?"""
    try:
        files = [path] if path.suffix == ".py" else python_files(path) if path.is_dir() else []
    except BtError:
        return False
    return any(b"py_trees" in disk.read_or_nothing(file) for file in files)


class SourceFiles:
    """The files that an import may read: those named, and what lies beside them or in an `--include`."""

    def __init__(self, named: Sequence[Path], include: Iterable[Path], report: Report) -> None:
        self.report = report
        self.roots = list(dict.fromkeys([*map(_home, named), *(project.real(each) for each in include)]))
        self.files: list[Path] = []  # those in which trees are looked for
        self.shown: dict[Path, str] = {}
        self.modules: dict[Path, SourceModule] = {}
        for path in named:
            if not path.exists():
                raise BtError(f"{path} is not there", "name a Python file, or a folder of them")
            for file in python_files(path) if path.is_dir() else [path]:
                self.shown[project.real(file)] = str(file)
                if path.is_file() or b"py_trees" in disk.read_or_nothing(file):
                    self.files.append(project.real(file))

    def load(self, path: Path) -> SourceModule:
        """Returns the module of a file, parsed once. Raises BtError."""
        if path not in self.modules:
            if len(self.modules) >= MOST_FILES:
                raise BtError(f"more than {MOST_FILES} Python files are read", "import them in parts")
            shown = self.shown.get(path, str(path))
            self.modules[path] = SourceModule(shown, path.stem, parse(disk.begin(path, MOST_BYTES + 1), shown))
        return self.modules[path]

    def find(self, name: str, level: int, of: Path) -> Path | None:
        """The file that `import name`, or `from ..name import x`, refers to in the file `of`."""
        parts = [part for part in name.split(".") if part]
        if not level and parts[0] in ("py_trees", "py_trees_ros", *sys.stdlib_module_names):
            return None  # known by name, even where its own files lie beside
        if level:
            starts = [of.parents[level - 1]] if level <= len(of.parents) else []
        else:
            starts = [*of.parents[:DEEPEST], *self.roots, *(root.parent for root in self.roots)]
        for start in starts:
            whole = start.joinpath(*parts)
            for path in (whole.with_suffix(".py") if parts else whole / "__init__.py", whole / "__init__.py"):
                if self.inside(path):
                    return project.real(path)
        return None

    def inside(self, path: Path) -> bool:
        try:
            real = project.real(path)
            return real.is_file() and any(real.is_relative_to(root) for root in self.roots)
        except (OSError, ValueError, RuntimeError):
            return False

    def path_of(self, module: SourceModule) -> Path:
        return next(path for path, each in self.modules.items() if each is module)


def _home(path: Path) -> Path:
    """The folder of a file; the outermost package when the file lies in one."""
    real = project.real(path)
    folder = real if real.is_dir() else real.parent
    while (folder / "__init__.py").exists() and folder.parent != folder:
        if not (folder.parent / "__init__.py").exists():
            break
        folder = folder.parent
    return folder
