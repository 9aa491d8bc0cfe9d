"""`btr doctor`: reports what is installed, and how to add the rest."""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from typing import Literal, NamedTuple, get_args

from bt_runtime._version import __version__
from bt_runtime.cli import Exit
from bt_runtime.cli.color import GREEN, PLAIN, RED, YELLOW, add_color, painted
from bt_runtime.language import impls, project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.kinds.registry import of_plugin as kinds_of
from bt_runtime.language.kinds.registry import registry_of
from bt_runtime.language.project import plugins
from bt_runtime.language.settings import Settings
from bt_runtime.llm import backends
from bt_runtime.skills.worlds import registry

State = Literal["ok", "absent", "warn", "fail"]
TONES = {"ok": GREEN, "absent": "", "warn": YELLOW, "fail": RED}
# extra → what it is for; what belongs to it is read from the package's metadata
PURPOSES = {
    "llm": "agents on a local model",
    "smollm": "a small instruct model, SmolLM2-135M",
    "gemma": "a second small model, Gemma 3 270M (base)",
    "memory": "episodic memory",
    "embed": "sentence embeddings",
    "minilm": "offline embedding weights",
    "e5": "a small sentence embedder without torch, the default of new memories",
    "thor": "the ALFRED world",
    "webshop": "the WebShop world",
    "alfworld": "ALFWorld's engine",
    "eval": "plots, and evaluations on more machines",
    "distill": "training a small model",
    "robot": "MCAP export, Groot2, MuJoCo",
    "ros": "ROS 2 without ROS",
    "otel": "spans to an OpenTelemetry collector",
    "fuzz": "random cases for trees",
    "lsp": "the language server",
    "mcp": "assistants, and tools of MCP servers",
    "fleet": "trees for many robots",
    "starter": "the models that come along",
    "envs": "the papers' worlds",
    "author": "the editor, proofs, drafts",
    "robots": "files of BehaviorTree.CPP, metrics",
    "lab": "evaluations",
}
_NAMED = re.compile(r"[\w.-]+")
_OF_EXTRA = re.compile(r"\bextra == ['\"]([\w.-]+)['\"]")


class DoctorCheck(NamedTuple):
    state: State
    name: str
    said: str
    todo: str = ""


def _server_flavour(entry: plugins.Entry) -> object:
    from bt_runtime.llm.server.flavour import of_entry

    return of_entry(entry)


def _of_memory(entry: plugins.Entry) -> object:
    from bt_runtime.memory import cache, embedder, opening

    return {"embedders": embedder.of_entry, "vectors": cache.of_entry, "memories": opening.of_entry}[entry.group](entry)


def _of_command(entry: plugins.Entry) -> object:
    from bt_runtime.cli import of_entry, options
    from bt_runtime.cli.running import monitors

    return {"commands": of_entry, "monitors": monitors.of_entry, "options": options.of_entry}[entry.group](entry)


def _of_run(entry: plugins.Entry) -> object:
    from bt_runtime.journal import export
    from bt_runtime.run.monitoring import grafts
    from bt_runtime.run.view import beside

    return {"exports": export.of_entry, "provers": grafts.of_entry, "editors": beside.of_entry}[entry.group](entry)


def _any(entry: plugins.Entry) -> object:
    plugins.load(entry)
    return entry


LOADS: dict[plugins.Group, Callable[[plugins.Entry], object]] = {
    "suites": registry.of_plugin, "worlds": registry.of_plugin, "kinds": kinds_of, "content": plugins.package_folder,
    "models": backends.of_entry, "servers": _server_flavour, "impls": impls.of_plugin,
    "embedders": _of_memory, "vectors": _of_memory, "memories": _of_memory,
    "commands": _of_command, "monitors": _of_command, "options": _of_command,
    "exports": _of_run, "provers": _of_run, "editors": _of_run,
}  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", help="a GGUF file or an address to try; else the one in the settings")
    parser.add_argument("--context", type=int, default=0, metavar="N", help="tokens of context that you want")
    parser.add_argument("--json", action="store_true", help="for programs")
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    found = list(checks(args.model, args.context))
    if args.json:
        print(json.dumps([c._asdict() for c in found], indent=2))
    else:
        color = painted(sys.stdout, args.color)
        for check in found:
            state = f"{check.state:<6}"
            tone = TONES[check.state] if color else ""
            print(f"{tone}{state}{PLAIN if tone else ''} {check.name:<11} {visible(check.said)}")
            if check.todo:
                print(f"{'':<18} → {visible(check.todo)}")
    return Exit.FAILURE if any(c.state == "fail" for c in found) else Exit.SUCCESS


def checks(model: str | None = None, context: int = 0) -> Iterator[DoctorCheck]:
    yield DoctorCheck("ok", "bt_runtime", f"{__version__}, from {project.packaged('trees').parent}")
    yield _python()
    yield _installed("py_trees", "py_trees")
    yield _installed("jsonschema", "jsonschema")
    yield _yaml()
    yield from _extras()
    yield from _models(model, context)
    yield from _plugins()
    yield from _content()
    yield _project()


def _python() -> DoctorCheck:
    said = f"{platform.python_implementation()} {platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info[:2] in ((3, 11), (3, 12), (3, 13)) and platform.python_implementation() == "CPython":
        return DoctorCheck("ok", "python", said)
    return DoctorCheck("warn", "python", said, "bt_runtime is tested with CPython 3.11 to 3.13")


def _installed(name: str, package: str) -> DoctorCheck:
    try:
        return DoctorCheck("ok", name, version(package))
    except PackageNotFoundError:
        return DoctorCheck("fail", name, "not installed", f"pip install {package}")


def _yaml() -> DoctorCheck:
    if find_spec("yaml._yaml") is None:
        return DoctorCheck("fail", "PyYAML", "its C parser is missing", "pip install --force-reinstall PyYAML")
    return DoctorCheck("ok", "PyYAML", f"{version('PyYAML')}, with its C parser")


def _extras() -> Iterator[DoctorCheck]:
    for extra, purpose in PURPOSES.items():
        absent = _absent(extra)
        if absent:
            said = f"{purpose}; without {', '.join(absent)}"
            yield DoctorCheck("absent", extra, said, f"pip install 'bt_runtime[{extra}]'")
        else:
            yield DoctorCheck("ok", extra, purpose)


def _absent(extra: str) -> list[str]:
    """Packages of an extra that are not installed."""
    return [name for name in packages_of(extra) if not _there(name)]


def packages_of(extra: str) -> list[str]:
    """The packages of an extra, by this installation's metadata; for a package of the workspace also what it needs."""
    return list(_needed("bt_runtime", extra))


def _needed(package: str, extra: str) -> Iterator[str]:
    """Yields what a package needs: for one of its extras; for none (""), what it always needs."""
    for line in requires(package) or ():
        needed, _, condition = line.partition(";")
        name, of = _NAMED.match(needed), _OF_EXTRA.search(condition)
        if name is None or (of[1] if of is not None else "") != extra:
            continue
        plain = name[0].replace("-", "_")
        if plain != plugins.OURS:
            yield name[0]
        if plain in plugins.WORKSPACE[1:] and _there(plain):
            for inner in ("", *re.findall(r"\w+", needed.partition("[")[2].partition("]")[0])):
                yield from _needed(plain, inner)


def _there(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def _models(model: str | None, context: int) -> Iterator[DoctorCheck]:
    """Checks the backends and the configured model; no configured model is not a problem."""
    from bt_runtime.llm.doctor import model_report
    from bt_runtime.llm.settings import NO_MODEL

    if _absent("llm"):
        return  # the line of the extra has said it
    for finding in model_report(model, context):
        state: State = {"ok": "ok", "note": "ok", "busy": "warn", "problem": "fail"}[finding.state]  # type: ignore[assignment]
        absent = finding.what == NO_MODEL
        yield DoctorCheck("absent" if absent else state, "model", finding.what, finding.hint)


def clashes() -> Iterator[tuple[plugins.Entry, plugins.Entry]]:
    """Returns the entries whose names were taken, each with the entry that has the name."""
    first: dict[tuple[str, str], plugins.Entry] = {}
    for group in plugins.GROUPS:
        room = "suites" if group == "worlds" else group  # both are named as a world is
        for entry in plugins.entries(group):
            taken = first.setdefault((room, entry.name), entry)
            if taken is not entry:
                yield entry, taken


def _plugins() -> Iterator[DoctorCheck]:
    """Checks registered entry points: ours in one line, each plugin in a line with its own problems."""
    for group in plugins.GROUPS:
        entries = plugins.entries(group)
        ours = [entry.name for entry in entries if entry.ours]
        if ours and group in ("suites", "models"):
            yield DoctorCheck("ok", group, ", ".join(ours))
        for entry in entries:
            if not entry.ours:
                yield _plugin(entry)
    for entry, taken in clashes():
        yield DoctorCheck("warn", "plugin", f"{entry.said} has the name of {taken.said}", "uninstall one of them")


def _plugin(entry: plugins.Entry) -> DoctorCheck:
    try:
        if not LOADS.get(entry.group, _any)(entry):
            return DoctorCheck("warn", "plugin", f"{entry.said}: there is no folder of the package `{entry.value}`")
    except BtError as error:
        return DoctorCheck("warn", "plugin", error.message, error.hint)
    return DoctorCheck("ok", "plugin", entry.said)


def _content() -> Iterator[DoctorCheck]:
    for folder in get_args(project.Folder):
        places = project.folders(folder)
        if not places:
            yield DoctorCheck(
                "warn", folder, "no folder of that name", "install bt_runtime again: its content is missing"
            )
            continue
        suffix = {"memory": ".jsonl", "guides": ".md", "schemas": ".json"}.get(folder, ".yaml")
        count = len(project.names(folder, suffix))
        yield DoctorCheck("ok", folder, f"{count} in {', then '.join(str(p) for p in places)}")


def _project() -> DoctorCheck:
    root = project.find_root()
    if root is None:
        return DoctorCheck("absent", "project", "none here or above", "btr init starts one")
    try:
        Settings(root=root)
    except BtError as error:
        return DoctorCheck("fail", "project", f"{root}: {error.message}", f"btr validate {root / project.PROJECT_FILE}")
    faults = [fault for fault in registry_of(root).faults if project.PROJECT_FILE in fault]
    if faults:
        return DoctorCheck("fail", "project", faults[0], f"mend `kinds:` in {root / project.PROJECT_FILE}")
    if not (root / project.PROJECT_FILE).is_file():
        return DoctorCheck("fail", "project", f"{root} has no {project.PROJECT_FILE}", "unset BTR_PROJECT, or fix it")
    return DoctorCheck("ok", "project", str(root))
