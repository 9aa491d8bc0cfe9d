"""Finds the folder of journals: --runs, BTR_RUNS, the project file, or the project's runs/."""

from __future__ import annotations

import argparse
from pathlib import Path

from bt_runtime.journal.folder import RUNS
from bt_runtime.journal.layout import SUFFIX
from bt_runtime.language import project
from bt_runtime.language.settings import Settings

NONE = "none"


def add_folder(parser: argparse.ArgumentParser, writing: bool = False) -> None:
    """The option that names the folder; read it with `reading` or `writing`."""
    none = ", or `none`" if writing else ""
    text = f"the folder of journals{none} [BTR_RUNS; default: runs/{' of a project, else none' if writing else ''}]"
    parser.add_argument("--runs", metavar="FOLDER", help=text)


def reading(args: argparse.Namespace) -> Path:
    """Returns the folder in which a command looks for journals."""
    return _named(Settings({"runs": args.runs})) or Path(RUNS)


def of_project(folder: Path) -> Path:
    """Returns the folder of journals of a project that is named instead; any other folder is returned unchanged."""
    if not (folder / project.PROJECT_FILE).is_file() or any(folder.glob(f"*{SUFFIX}")):
        return folder
    with project.beside(folder):
        return _named(Settings(tolerant=True)) or folder / RUNS


def writing(settings: Settings) -> Path | None:
    """Returns the folder in which a run writes its journal; None: no journal."""
    return None if settings["runs"] == NONE else _named(settings)


def seal_key(settings: Settings) -> bytes | None:
    """Returns the secret by which finished runs are sealed; None: they are not. BtError where its file is none."""
    from bt_runtime.journal import chain

    named = settings.value("seal")
    return chain.key_of(named.base / str(named.value)) if named.value else None


def sealed(path: Path | None) -> None:
    """Seals the finished journals beside this one, where the setting `seal` names a key."""
    if path is not None and (key := seal_key(Settings(tolerant=True))) is not None:
        from bt_runtime.journal import chain

        chain.seal(path.parent, key)


def _named(settings: Settings) -> Path | None:
    value, root = settings.value("runs"), project.find_root()
    if value.value in (None, NONE):
        return root / RUNS if root is not None else None
    of_project = value.source.startswith(project.PROJECT_FILE) and root is not None
    return (root / str(value.value)) if of_project and root is not None else Path(str(value.value))
