"""What a run was made of: its files, kept in the journal and laid out again for a run that is made from them, the
Python code, the services and the versions, each identified."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.machinery import all_suffixes
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from bt_runtime._version import __version__
from bt_runtime.journal import codec
from bt_runtime.journal.layout import FORMAT
from bt_runtime.language import project
from bt_runtime.language.agent_options import AgentOptions, condition
from bt_runtime.language.entry import SkillEntry, skill_kind
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Field, FieldType, Kind
from bt_runtime.language.project import disk, real
from bt_runtime.language.project.file_digest import digest
from bt_runtime.language.project.importing import split
from bt_runtime.language.project_file import LAID_OUT
from bt_runtime.types import Json, JsonValue

if TYPE_CHECKING:
    from bt_runtime.journal.recordable import Given, Recordable
    from bt_runtime.language.spec import TreeSpec


def manifest(run: Recordable, given: Given, things: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A journal's head, as far as it tells of the tree and of what the run was given. `things`: those that parts keep
    in `given`."""
    tree, spec, loader = run.tree, run.tree.spec, run.tree.first
    files = files_kept(loader.files, loader.project, loader.home)
    trees = [each for each in (tree.spec, *loader.loaded.values()) if each]
    root = next((p for p, read in loader.files.items() if read == spec.text), None)
    budget = given.get("budget")
    return {
        "format": FORMAT, "name": run.name, "tree": spec.name, "file": spec.file, "text": spec.text,
        "root": str(root or ""), "folder": str(spec.folder), "files": files,
        "project": str(loader.project.resolve()) if loader.project is not None else "",
        "digest": tree_digest(files, spec.text), "kinds": kinds_kept(tree.kinds),
        "inputs": codec.plain(dict(given.get("inputs") or {})), "seed": given.get("seed", 0),
        "budget": codec.plain(list(budget)) if budget is not None else None,
        "recall": bool(given.get("recall", True)), "strict": bool(given.get("strict")), "hz": given.get("hz"),
        "given": {**things, **given_kept(given, run.resources.task is not None, trees)}, "versions": versions(),
    }  # fmt: skip


def files_kept(files: Mapping[Path, str], root: Path | None, home: Path | None) -> list[Json]:
    """Lists each file with its origin, its place in a separate project, and its text."""
    return [{"origin": str(p), "place": _place(p, root, home), "text": text} for p, text in files.items()]


def _place(path: Path, root: Path | None, home: Path | None) -> str:
    if root is not None and path.is_relative_to(root.resolve()):
        return str(path.relative_to(root.resolve()))
    for folder in ("trees", "skills"):
        for shipped in (place.resolve() for place in project.installed(folder)):
            if path.is_relative_to(shipped):
                return f"{folder}/{path.relative_to(shipped)}"
    if home is not None and path.is_relative_to(home.resolve()):
        return f"trees/{path.relative_to(home.resolve())}"
    return f"trees/{path.name}"


def tree_digest(files: Iterable[Mapping[str, str]], text: str) -> str:
    """Returns one digest of all files of the tree."""
    found = _sha256(text.encode("utf-8", "backslashreplace"))
    for file in sorted(files, key=lambda f: f["place"]):
        found.update(f"\0{file['place']}\0{file['text']}".encode("utf-8", "backslashreplace"))
    return str(found.hexdigest())


def _sha256(data: bytes) -> Any:
    """The interpreter's own where it has one: with OpenSSL's come three and a half megabytes."""
    for name in ("_sha2", "_sha256", "hashlib"):  # Python 3.12 and later; earlier; any
        with suppress(ImportError):
            return import_module(name).sha256(data)
    raise BtError("this Python has no SHA-256", "install one that has")


def lay_out(files: Iterable[Mapping[str, str]], folder: Path, policies: str = "") -> None:
    """Writes the recorded trees and manifests to a project folder, without Python. Of the settings only the
    policies are written, in JSON."""
    settings = f"policies: {policies}\n" if policies else ""
    (folder / project.PROJECT_FILE).write_text(LAID_OUT + settings, encoding="utf-8")
    for file in files:
        place = PurePosixPath(file["place"])
        if place.is_absolute() or ".." in place.parts:
            continue  # a journal may come from anywhere: nothing is written outside
        if place.name == project.PROJECT_FILE or place.name.endswith(tuple(all_suffixes())):
            continue  # … and nothing that it brings is run
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file["text"], encoding="utf-8")


_LATER = ("uses", "follow", "instant", "test")  # written when there is something to say


def kinds_kept(kinds: Iterable[Kind]) -> list[Json]:
    """Describes skills that were given as Python objects, so that the tree can be checked without them."""
    found = []
    for kind in kinds:
        entry: SkillEntry = kind.data["entry"]
        fields = [
            [f.name, f.type, f.about, f.required, f.default, list(f.choices), f.writes, f.minimum, f.maximum]
            for f in kind.fields
        ]
        shape: dict[str, JsonValue] = {"sentence": entry.sentence, "types": entry.types, "takes": entry.takes}
        shape |= {"on_resume": entry.on_resume, "durable": entry.durable}
        shape |= {"needs": list(entry.needs), "brings": list(entry.brings), "acting": list(entry.agent_options)}
        shape |= {name: value for name in _LATER if (value := getattr(entry, name))}
        if entry.requires is not None:
            shape["requires"] = entry.requires.text
        found.append({"name": kind.name, "about": kind.about, "fields": fields, **shape})
    return found


def kinds_of(found: Iterable[Mapping[str, Json]]) -> tuple[Kind, ...]:
    return tuple(_kind(k) for k in found)


def _kind(kept: Mapping[str, Json]) -> Kind:
    fields = tuple(_field(*f) for f in kept["fields"])
    about = {name: kept[name] for name in ("takes", "on_resume", "durable", "instant", "test") if name in kept}
    about |= {name: tuple(kept[name]) for name in ("needs", "brings", "uses", "follow") if name in kept}
    if "requires" in kept:
        about["requires"] = condition(kept["requires"])
    agent_options = AgentOptions(*kept.get("acting", ()))
    entry = SkillEntry(kept["sentence"], "python", "", dict(kept["types"]), **about, agent_options=agent_options)
    return skill_kind(kept["name"], kept["about"], fields, entry)


def _field(
    name: str, type_: FieldType, about: str, required: bool, default: Json, choices: list[Json], writes: bool,
    minimum: float | None = None, maximum: float | None = None,
) -> Field:  # fmt: skip
    return Field(name, type_, about, required, default, tuple(choices), minimum, maximum, writes=writes)


# The things that a run was given ------------------------------------------------------------


def given_kept(given: Given, task: bool, trees: Iterable[TreeSpec]) -> dict[str, Json]:
    """What identifies the things that a run was given, its models and memories aside. `task`: it was given one."""
    return {
        "task": task,  # None: the world brought its own task
        "services": {name: class_name(thing) for name, thing in _services(given)},
        "code": [{"file": str(path), "digest": digest(path)} for path in code(trees)],
    }


def _services(given: Given) -> list[tuple[str, object]]:
    """Lists the services to be given again on resume. Each model keeps its prompt register itself."""
    return sorted((name, thing) for name, thing in (given.get("services") or {}).items() if name != "prompts")


def class_name(thing: object) -> str:
    """Returns an object's class name for a request to a person."""
    return short((thing if isinstance(thing, type) else type(thing)).__qualname__)


def short(qualified: str) -> str:
    """Returns the qualified name of a class without the enclosing function's part, up to `<locals>`."""
    return qualified.rpartition("<locals>.")[2]


def code(trees: Iterable[TreeSpec]) -> list[Path]:
    """Returns the Python files that define the trees' skills and classes."""
    found: dict[Path, None] = {}
    for spec in trees:
        for entry in (k.data["entry"] for k in spec.registry if "entry" in k.data):
            found.update(dict.fromkeys(_file(entry.impl, Path(entry.folder))))
        for node in spec.root.walk():
            found.update(dict.fromkeys(_file(str(node.values.get("class", "")), spec.folder)))
    return sorted(found)


def _file(reference: str, folder: Path) -> Iterator[Path]:
    home = split(reference)[0] if ".py:" in reference else ""
    if home.endswith(".py"):
        yield real(folder / home)


def changed_files(files: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Describes which source files of a run have changed or disappeared."""
    for file in files:
        path = Path(file["origin"])
        try:
            if disk.read_text(path) != file["text"]:
                yield f"{path} has changed"
        except (OSError, ValueError):
            yield f"{path} is not there any more"


def changed_code(kept: Iterable[Mapping[str, str]]) -> Iterator[str]:
    for each in kept:
        now = digest(Path(each["file"]))
        if now != each["digest"]:
            yield f"{each['file']} {'has changed' if now else 'is not there any more'}"


def versions() -> dict[str, str]:
    """Returns the versions of this package, Python and py_trees, and the platform, for a journal's head."""
    try:  # not by the metadata of packages: to read them loads a parser of mails
        from py_trees.version import __version__ as py_trees
    except ImportError:
        py_trees = "?"
    return {
        "bt_runtime": __version__, "python": platform.python_version(), "py_trees": py_trees, "platform": sys.platform
    }  # fmt: skip


def unchanged(files: Iterable[Mapping[str, str]]) -> bool:
    """True when every file is still at its place with the recorded text."""
    return next(changed_files(files), None) is None
