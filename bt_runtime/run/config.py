"""Settings: a flag, else the environment, else the project file, else a default; each with where it came from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from bt_runtime import project
from bt_runtime.faults.diagnostic import BtError, Diagnostic, Faults, nearest
from bt_runtime.language.source import Mapping as YamlMapping
from bt_runtime.language.source import Node, Scalar, read
from bt_runtime.types import Json

CODE = "BT060"  # of every fault in a project file
Type = Literal["text", "word", "number", "integer", "boolean", "any", "allow"]


class Setting(NamedTuple):
    name: str  # in the project file; `--output-format` is `output_format`
    type: Type
    about: str
    default: Json = None
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        return f"BTR_{self.name.upper()}"


SETTINGS: tuple[Setting, ...] = (
    Setting("color", "word", "When to use colours.", "auto", ("auto", "always", "never")),
    Setting("output_format", "word", "How `validate` shows faults.", "full", ("full", "concise", "json", "github")),
    Setting("strict", "boolean", "Warnings count as faults; a node that breaks ends the run.", False),
    Setting("hz", "number", "Ticks a second of `run`; without it, as fast as there is work."),
    Setting("seconds", "number", "The longest that `run` may take."),
    Setting("ticks", "integer", "The most ticks that `run` may take."),
    Setting("slow", "number", "Seconds that a node may hold a tick of `run` before it is named; 0.5 if left open."),
    Setting("log", "word", "From which level on the log is shown.", "info", ("debug", "info", "warning", "error")),
    Setting("env", "text", "The world in which `run` acts."),
    Setting("model", "any", "The model of the agents: a GGUF file, an address, or a mapping of its options."),
    Setting("models", "any", "A mapping of roles to models: `{planner: big.gguf, executor: small.gguf}`."),
    Setting("memory", "text", "The file of the episodic memory."),
    Setting("runs", "text", "The folder of journals, or `none`; in a project its runs/, elsewhere none."),
    Setting(
        "journal", "word", "Without a record, do skills that may not be repeated wait, or go on?", "required",
        ("required", "best_effort"),
    ),
    Setting("data", "text", "The folder of outside data sets."),
    Setting("allow", "allow", "What a project takes from elsewhere: `{python: [my_package, ../shared_skills]}`."),
)  # fmt: skip
BY_NAME = {s.name: s for s in SETTINGS}


class Value(NamedTuple):
    """A setting's value now, and who said so: `--hz`, `BTR_HZ`, `btr.yaml:3` or `default`."""

    setting: Setting
    value: Json
    source: str


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
        self.file = read_project(root or project.find_root())
        if self.file.diagnostics and not tolerant:
            raise Faults(self.file.diagnostics, {str(self.file.path): self.file.text})

    def __getitem__(self, name: str) -> Json:
        return self.value(name).value

    def value(self, name: str) -> Value:
        setting = BY_NAME[name]
        if name in self.flags:
            return Value(setting, self.flags[name], f"--{name.replace('_', '-')}")
        text = self.environ.get(setting.variable, "")
        if text:
            return Value(setting, from_text(setting, text), setting.variable)
        if name in self.file.values:
            value, line = self.file.values[name]
            return Value(setting, value, f"{project.PROJECT_FILE}:{line}")
        return Value(setting, setting.default, "default")

    def all(self) -> list[Value]:
        return [self.value(s.name) for s in SETTINGS]


def from_text(setting: Setting, text: str) -> Json:
    """The value of an environment variable."""
    try:
        value = _typed(setting, text)
    except ValueError:
        value = None
    if value is None or complaint(setting, value):
        why = complaint(setting, value if value is not None else text)
        raise BtError(f"{setting.variable}={text}: {why}", f"mend it, or leave it out: `unset {setting.variable}`")
    return value


def _typed(setting: Setting, text: str) -> Json:
    if setting.type == "boolean":
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(text.lower())
    if setting.type == "integer":
        return int(text)
    return float(text) if setting.type == "number" else text


def complaint(setting: Setting, value: Json) -> str:
    """Why a setting cannot have this value; empty when it can."""
    kind = setting.type
    if kind == "allow":
        listed = value.get("python") if isinstance(value, dict) and list(value) == ["python"] else None
        fits = isinstance(listed, list) and all(isinstance(name, str) and name for name in listed)
        return "" if fits else "`allow` takes packages and folders: `allow: {python: [my_package, ../shared_skills]}`"
    if kind == "boolean":
        return "" if isinstance(value, bool) else f"`{setting.name}` is true or false"
    if kind in ("number", "integer"):
        wanted = (int,) if kind == "integer" else (int, float)
        fits = isinstance(value, wanted) and not isinstance(value, bool) and 0 < value < float("inf")
        return "" if fits else f"`{setting.name}` is {'a whole' if kind == 'integer' else 'a'} number above zero"
    if kind == "word" and value not in setting.choices:
        return f"`{setting.name}` is one of {', '.join(setting.choices)}"
    return "" if kind == "any" or isinstance(value, str) else f"`{setting.name}` is a text"


def read_project(root: Path | None) -> ProjectFile:
    """The project file of a folder: a mapping of settings; every fault in it has its place."""
    path = root / project.PROJECT_FILE if root else None
    if path is None or not path.is_file():
        return ProjectFile()
    document = read(path)
    if all(not line.strip() or line.lstrip().startswith("#") for line in document.text.splitlines()) and (
        not document.diagnostics or document.diagnostics[0].code == "BT011"
    ):
        return ProjectFile(path, text=document.text)  # an empty file marks a project
    found = list(document.diagnostics)
    values: dict[str, tuple[Json, int]] = {}
    if isinstance(document.root, YamlMapping):
        for key, node in document.root:
            fault = _fault(key, node, str(path))
            if fault is not None:
                found.append(fault)
            elif key.text in BY_NAME and not (isinstance(node, Scalar) and node.value is None):
                values[key.text] = (node.data(), key.span.line)
    elif document.root is not None and not (isinstance(document.root, Scalar) and document.root.value is None):
        found.append(Diagnostic(CODE, "a project file is a mapping of settings", str(path), document.root.span))
    return ProjectFile(path, values, document.text, tuple(found))


def _fault(key: Scalar, node: Node, file: str) -> Diagnostic | None:
    if key.text == "version":
        right = isinstance(node, Scalar) and node.value == 1 and not isinstance(node.value, bool)
        return None if right else Diagnostic(CODE, "this runtime reads version 1", file, node.span)
    setting = BY_NAME.get(key.text)
    if setting is None:
        close = nearest(key.text, BY_NAME)
        label = f"did you mean `{close}`?" if close else ""
        return Diagnostic(
            CODE, f"there is no setting `{key.text}`", file, key.span, label, f"settings: {', '.join(BY_NAME)}"
        )
    if isinstance(node, Scalar) and node.value is None:
        return None  # left open: the default holds
    why = complaint(setting, node.data())
    return Diagnostic(CODE, why, file, node.span, help=setting.about) if why else None
