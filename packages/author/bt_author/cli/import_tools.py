"""`btr import mcp SERVER`, `btr import tools FILE`: manifests from tools. `btr export tools`: the other way round."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from bt_author.mcp.functions import exported as as_functions
from bt_author.mcp.functions import read
from bt_author.mcp.leaf.config import find
from bt_author.mcp.leaf.manifest import Foreign, Written
from bt_author.mcp.leaf.manifest import manifest as manifest_of
from bt_runtime.cli import Exit
from bt_runtime.cli.options import Options
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.cli.terminal import give
from bt_runtime.language import manifest, project
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.faults.format import printed
from bt_runtime.language.kinds.registry import registry_of
from bt_runtime.language.project import disk, trust


class _Import(Options):
    def configure(self, parser: argparse.ArgumentParser) -> None:
        return None

    def instead(self, args: argparse.Namespace) -> int | None:
        tools = args.what[0] in ("mcp", "tools") and len(args.what) == 2
        return run(args.what[0], args.what[1], args.out, args.force) if tools else None


class _Export(Options):
    def configure(self, parser: argparse.ArgumentParser) -> None:
        return None

    def instead(self, args: argparse.Namespace) -> int | None:
        if args.tree != "tools":
            return None
        give(exported(args.manifests), args.output)
        return Exit.SUCCESS


IMPORT, EXPORT = _Import(), _Export()


def run(sort: str, name: str, out: Path | None, force: bool) -> int:
    root = project.find_root()
    if root is None:
        raise BtError("there is no project here or above", "start one: btr init")
    if sort == "mcp":
        stem, tools, about = name, _served(name, root), f"Tools of the MCP server {name}."
        impl = f"mcp/{name}/{{tool}}"
    else:
        stem = re.sub(r"\W+", "_", Path(name).stem, flags=re.ASCII).strip("_").lower() or "tools"
        tools, about, impl = read(Path(name)), f"Tools of {Path(name).name}.", ""
    path = out or root / "skills" / f"{stem}.yaml"
    made = manifest_of(stem, about, impl, tools, registry_of(root), "../schemas/skills.schema.json")
    _write(path, made, force)
    return Exit.FAILURE if any("refused" in note for note in made.notes) else Exit.SUCCESS


def _served(name: str, root: Path) -> list[Foreign]:
    """Asks the server for its tools; starting its command is running code, and is asked about."""
    config = find(name, root)
    with Extra("mcp", "`btr import mcp`"):
        from bt_author.mcp.leaf.importing import tools_of
    if config.command:
        trust_prompt.asked_about([f"the server `{name}` is started: {config.shown}"])
    else:
        trust.may_send(config.url, root)
    return tools_of(config)


def _write(path: Path, made: Written, force: bool) -> None:
    if path.exists() and disk.read_or_nothing(path) != made.text.encode() and not force:
        raise BtError(f"{path} is there, and says something else", "look at the difference, then say --force")
    disk.folder(path.parent)
    disk.write(path, made.text)
    for note in made.notes:
        print(f"note: {printed(note)}", file=sys.stderr)
    print(f"wrote {path}: {', '.join(made.skills)}")
    print(f"next: edit the sentences; list it in a tree: skills: [{path.stem}]", file=sys.stderr)


def exported(names: list[str]) -> str:
    """The project's skills, or those of some manifests, as JSON."""
    known = project.names("skills")
    for name in names:
        if name not in known:
            raise BtError(f"there is no manifest `{name:.60}`", did_you_mean(name, known))
    root = project.find_root()
    own = [name for name in known if root is not None and (root / "skills" / f"{name}.yaml").is_file()]
    paths = [path for path in (project.find("skills", name) for name in names or own) if path is not None]
    if not paths:
        raise BtError("this project has no manifest of skills", "name a shipped one: btr export tools house")
    kinds = [kind for path in paths for kind in manifest.read(path).kinds]
    return json.dumps(as_functions(kinds), indent=2, ensure_ascii=False) + "\n"
