"""Settings, each with its source: a flag, else an environment variable, else the project file, else a default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, Faults
from bt_runtime.language.project import importing
from bt_runtime.language.project_file import CHECK, CODE, SETTINGS, Setting
from bt_runtime.language.source import YamlMap as YamlMapping
from bt_runtime.language.source import parse, read
from bt_runtime.language.validate import empty
from bt_runtime.types import Json

BY_NAME = {s.name: s for s in SETTINGS}


class Value(NamedTuple):
    """A setting's present value and its source: `--hz`, `BTR_HZ`, `btr.yaml:3` or `default`. `folder`: the project's,
    for a value of its file."""

    setting: Setting
    value: Json
    source: str
    folder: Path | None = None

    @property
    def base(self) -> Path:
        """The folder to which this value's relative paths refer."""
        return self.folder or Path.cwd()


class ProjectFile(NamedTuple):
    path: Path | None = None
    values: Mapping[str, tuple[Json, int]] = {}  # name → value, line
    text: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()


class Settings:
    """All settings of one command. Raises Faults for a bad project file, BtError for a bad variable.

    `tolerant` settings take what is sound of a project file at fault: its faults are shown by other means.
    """

    def __init__(
        self,
        flags: Mapping[str, Json] | None = None,
        environ: Mapping[str, str] | None = None,
        root: Path | None = None,
        tolerant: bool = False,
    ) -> None:
        self.flags = {k: v for k, v in (flags or {}).items() if v is not None}
        self.environ = os.environ if environ is None else environ
        self.root = root or project.find_root()
        self.file = read_project(self.root)
        if not tolerant:
            self.check()

    def check(self) -> None:
        """Raises Faults when the project file has any."""
        if self.file.diagnostics:
            raise Faults(self.file.diagnostics, {str(self.file.path): self.file.text})

    def __getitem__(self, name: str) -> Json:
        return self.value(name).value

    def reference(self, name: str) -> str:
        """Returns the name of an installed implementation unchanged; resolves `path.py:Name` from the folder of its
        source."""
        value = self.value(name)
        return importing.whole(str(value.value or ""), value.base)

    def value(self, name: str) -> Value:
        setting = BY_NAME[name]
        if name in self.flags:
            return Value(setting, self.flags[name], f"--{name.replace('_', '-')}")
        text = self.environ.get(setting.variable, "")
        if text:
            return Value(setting, from_text(setting, text), setting.variable)
        if self.file.path is not None and name in self.file.values:
            value, line = self.file.values[name]
            return Value(setting, value, f"{project.PROJECT_FILE}:{line}", self.file.path.parent)
        return Value(setting, setting.default, "default")

    def all(self) -> list[Value]:
        return [self.value(s.name) for s in SETTINGS]


def from_text(setting: Setting, text: str) -> Json:
    """Parses the value of an environment variable."""
    try:
        value = _typed(setting, text)
    except ValueError:
        value = None
    if value is None or complaint(setting, value):
        why = complaint(setting, value if value is not None else text)
        raise BtError(f"{setting.variable}={text}: {why}", f"fix it, or leave it out: `unset {setting.variable}`")
    return value


def _typed(setting: Setting, text: str) -> Json:
    if setting.type == "boolean":
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(text.lower())
    if setting.type == "integer":
        return int(text)
    return float(text) if setting.type == "number" else text


def complaint(setting: Setting, value: Json) -> str:
    """Returns why a setting cannot have this value; "" when it can."""
    return CHECK.complaint(setting.name, value)


def read_project(root: Path | None, text: str | None = None) -> ProjectFile:
    """Reads the project file of a folder: a mapping of settings; every fault has its place. `text`: an editor's unsaved
    content."""
    path = root / project.PROJECT_FILE if root else None
    if path is None or (text is None and not path.is_file()):
        return ProjectFile()
    document = read(path) if text is None else parse(text, str(path))
    if all(not line.strip() or line.lstrip().startswith("#") for line in document.text.splitlines()) and (
        not document.diagnostics or document.diagnostics[0].code == "BT011"
    ):
        return ProjectFile(path, text=document.text)  # an empty file marks a project
    if document.root is None or empty(document.root):
        return ProjectFile(path, {}, document.text, tuple(document.diagnostics))
    if not isinstance(document.root, YamlMapping):
        fault = Diagnostic(CODE, "a project file is a mapping of settings", str(path), document.root.span,
                           help="write one setting a line: `hz: 10`")  # fmt: skip
        return ProjectFile(path, {}, document.text, (*document.diagnostics, fault))
    fitting, faults = CHECK.read(document.root, str(path))
    lines = {key.text: key.span.line for key, _ in document.root}
    values = {name: (value, lines[name]) for name, value in fitting.items() if name in BY_NAME}
    return ProjectFile(path, values, document.text, (*document.diagnostics, *faults))
