"""Resolves `module:Name` and `path.py:Name`, the forms in which YAML names Python objects."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.faults.extra import extra_of
from bt_runtime.language.project import plugins, trust


class ImportFault(BtError):
    """Raised when a reference names nothing that can be imported."""


def split(reference: str) -> tuple[str, str]:
    """Splits a reference into module (or file) and name; raises for a text of another form."""
    home, colon, name = reference.rpartition(":")
    if not colon or not home or not all(part.isidentifier() for part in name.split(".")):
        raise ImportFault(
            f"`{reference}` is not of the form module:Name or path.py:Name",
            "such as `my_package.skills:Drive`, or `drive.py:Drive` beside the file that names it",
        )
    return home, name


def in_file(reference: str) -> bool:
    """True for the form `path.py:Name`, which is allowed wherever an installed name is."""
    home, colon, name = reference.rpartition(":")
    return bool(colon) and home.endswith(".py") and all(part.isidentifier() for part in name.split("."))


def whole(reference: str, folder: Path) -> str:
    """Makes the path of `path.py:Name` absolute; returns any other name unchanged."""
    return str(folder.resolve() / reference) if in_file(reference) else reference


def resolve(reference: str, folder: Path, asked: Callable[[str, Path], None] = trust.may_run) -> Any:
    """Imports the module, or runs the file once, and gives the object; `folder` is where a path starts.

    `asked` raises where nothing of that folder may be run.
    """
    home, name = split(reference)
    asked(f"`{reference}`", folder)
    module = _from_file(folder / home) if home.endswith(".py") else _from_module(home)
    found: Any = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ImportFault(f"`{home}` has no `{name}`", did_you_mean(part, dir(found))) from None
    return found


def _from_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise ImportFault(
            f"the module `{name}` cannot be imported: {error}", "is it installed, and on the path?"
        ) from error


def _from_file(path: Path) -> Any:
    path = path.resolve()
    if not path.is_file():
        raise ImportFault(
            f"there is no file {path}", "a path.py:Name is relative to the folder of the file that names it"
        )
    from hashlib import blake2b  # takes as long as a whole check of a small tree

    name = f"btr_{path.stem}_{blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickling look the module up by name
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        if isinstance(error, ModuleNotFoundError) and error.name:
            raise _lacks(path.name, error.name) from error
        raise ImportFault(
            f"{path.name} broke while it was imported: {type(error).__name__}: {error}",
            f"try it by itself: python {path}",
        ) from error
    return module


def _lacks(file: str, module: str) -> ImportFault:
    extra = extra_of(module, plugins.WORKSPACE)
    way = f"pip install 'bt_runtime[{extra}]'" if extra else "install what brings it, or mend the import"
    needs = f", of the `{extra}` extra" if extra else ""
    return ImportFault(f"{file} imports `{module}`{needs}, which is not installed", way)
