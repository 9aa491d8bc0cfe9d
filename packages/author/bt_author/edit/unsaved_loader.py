"""Loads trees as they stand in the editor: files that are not saved yet, or have another name, as they are there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from bt_runtime.language import manifest, source
from bt_runtime.language.loader import Loader
from bt_runtime.language.manifest import Manifest
from bt_runtime.language.project import real, shown_path
from bt_runtime.language.spec import IncludeStep, TreeSpec

Texts = Mapping[Path, str | None]  # texts of edited files; None: the file is gone
NO_TEXTS: Texts = MappingProxyType({})


class UnsavedLoader(Loader):
    def __init__(self, project: Path | None, texts: Texts) -> None:
        super().__init__(project)
        self.texts = texts

    def load(self, path: Path, way: tuple[IncludeStep, ...]) -> TreeSpec | None:
        path = real(path)
        text = self.texts.get(path)
        if text is None:
            return super().load(path, way)
        if path not in self.loaded:
            self.files[path] = text
            self.loaded[path] = None  # until it is whole: a tree that contains itself is met here
            document = source.parse(text.removeprefix("\ufeff"), shown_path(path), self.limits)
            self.loaded[path] = self.tree(document, path.parent, way, path)
        return self.loaded[path]

    def include(self, name: str, folder: Path) -> Path | str:
        found = super().include(name, folder)
        if isinstance(found, Path) and self.texts.get(found, "") is not None:
            return found
        places = [folder, *([self.project / "trees"] if self.project is not None else [])]
        paths = (place / f"{name.removesuffix('.yaml')}.yaml" for place in places)
        return next(
            (path for path in paths if self.texts.get(path) is not None), "missing" if found != "outside" else found
        )

    def manifest(self, path: Path, folder: Path) -> Manifest:
        text = self.texts.get(real(path))
        if text is None:
            return super().manifest(path, folder)
        return manifest.parse(text, str(path), path.parent, self.import_policy(path.parent))
