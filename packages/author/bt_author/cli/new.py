"""`btr new skill|tree|test NAME`: creates valid files to edit. Existing files are never overwritten."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from bt_author.new_skill import NAME as _NAME
from bt_author.new_skill import new_skill
from bt_runtime.cli import Exit
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.loader import Loader
from bt_runtime.language.project import disk, shown_path
from bt_runtime.language.spec import TreeSpec

_SAMPLES = {"integer": 1, "number": 0.5, "boolean": True, "list": [], "object": {}}
_TREE = """\
# yaml-language-server: $schema={up}schemas/tree.schema.json
version: 1
tree: {name}
about: What {name} does.
inputs:
  who: {{type: string, default: world}}
root:
  sequence:
    - log: "{name} begins, {{who}}"
    - fallback:
        - check: who != ""
        - fail: nobody is there
"""
_TEST = '''\
"""What the tree `{tree}` does."""

from bt_runtime import Status
from bt_runtime.testing import run_tree


def test_{name}_comes_to_an_end() -> None:
    """Every skill is scripted: none of them is run."""
    ended = run_tree("{tree}", inputs={inputs}, skills={skills})
    assert ended.status in (Status.SUCCESS, Status.FAILURE)
'''


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("skill", "tree", "test"), help="a test is one of the tree of that name")
    parser.add_argument("name", metavar="NAME", help="small letters, digits and _; of trees also FOLDER/NAME")
    text = "of a tree: what it shall do, in a sentence; a model drafts it, and it is written after your yes"
    parser.add_argument("--from", dest="sentence", metavar="TEXT", help=text)
    parser.add_argument("--model", metavar="MODEL", help="with --from: a file, an address, a backend [BTR_MODEL]")
    parser.add_argument("--rounds", type=int, metavar="N", help="with --from: drafts until one is sound (default: 3)")
    parser.add_argument("--agents", action="store_true", help="with --from: nodes that ask a model may be in it")


def run(args: argparse.Namespace) -> int:
    root = project.find_root()
    if root is None:
        raise BtError("there is no project here or above", "start one: btr init")
    folder, _, name = args.name.rpartition("/")
    if not _NAME.fullmatch(name) or (folder and (args.what == "skill" or not _folder(folder))):
        raise BtError(
            f"`{args.name:.60}` is no name of a {args.what}", "small letters, digits and _, such as open_door"
        )
    files = {"skill": _skill, "tree": _tree, "test": _test}[args.what](root, folder, name)
    taken = [path for path in files if os.path.lexists(path)]
    if taken:
        raise BtError(f"already there: {shown_path(taken[0])}", "choose another name; nothing is written over")
    if args.sentence is not None:
        if args.what != "tree":
            raise BtError(f"--from is for trees, not for a {args.what}", "btr new tree NAME --from …")
        from bt_author.cli import from_sentence

        drafted = from_sentence.run(args, root, name, files)
        if drafted is None:
            return Exit.SUCCESS
        files = drafted
    for path, text in files.items():
        disk.folder(path.parent)
        disk.write(path, text)
        print(f"wrote {shown_path(path)}")
    print(f"next: {_NEXT[args.what].format(name=args.name, file=shown_path(next(iter(files))))}", file=sys.stderr)
    return Exit.SUCCESS


_NEXT = {
    "skill": "list it under `skills: [{name}]` in a tree; `btr config schema` tells your editor",
    "tree": "btr run {name}",
    "test": "pytest {file}",
}


def _folder(folder: str) -> bool:
    return all(_NAME.fullmatch(part) for part in folder.split("/"))


def _skill(root: Path, folder: str, name: str) -> Mapping[Path, str]:
    return new_skill(root, name)


def _tree(root: Path, folder: str, name: str) -> Mapping[Path, str]:
    path = root / "trees" / folder / f"{name}.yaml"
    up = "../" * (len(path.relative_to(root).parts) - 1)
    return {path: _TREE.format(name=name, up=up)}


def _test(root: Path, folder: str, name: str) -> Mapping[Path, str]:
    tree = f"{folder}/{name}" if folder else name
    path = project.find_tree(tree, root).path
    if path is None or not path.is_relative_to(root):
        raise BtError(f"this project has no tree `{tree}`", f"make it first: btr new tree {tree}")
    spec = Loader(root).file(path).sound()
    inputs = {n: _sample(port.type, port.choices) for n, port in spec.ports.items() if _given(spec, n)}
    skills = ", ".join(f'"{kind}": Status.SUCCESS' for kind in sorted(_skills(spec)))
    text = _TEST.format(tree=tree, name=name, inputs=repr(inputs).replace("'", '"'), skills=f"{{{skills}}}")
    return {root / "tests" / f"test_{name}.py": text}


def _given(spec: TreeSpec, name: str) -> bool:
    """True when the caller must give a value for this port: it is required and not an output."""
    return name not in spec.outputs and spec.ports[name].required


def _sample(type: str, choices: tuple[object, ...]) -> object:
    return choices[0] if choices else _SAMPLES.get(type, "something")


def _skills(spec: TreeSpec) -> set[str]:
    """Returns the skills of the tree and of all trees that it includes. A tree with an agent needs further ones."""
    found: set[str] = set()
    trees, seen = [spec], set[int]()
    while trees:
        tree = trees.pop()
        if id(tree) in seen:
            continue
        seen.add(id(tree))
        for node in tree.root.walk():
            if node.kind.asks:
                raise BtError(f"`{tree.name}` asks a model", "docs/testing.md shows how its answers are scripted")
            found |= {node.kind.name} if node.kind.family == "skill" else set()
            trees += [node.subtree] if node.subtree is not None else []
    return found
