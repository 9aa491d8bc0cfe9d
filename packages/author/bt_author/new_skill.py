"""The files of a new skill: its manifest, and a stub in Python. Nothing is written here, and nothing is imported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from keyword import iskeyword
from pathlib import Path

from bt_runtime.language import manifest
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.registry import registry_of

NAME = re.compile(r"[a-z_][a-z0-9_]*")
_TYPES = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "list": "list", "object": "dict"}
_MANIFEST = """\
# yaml-language-server: $schema=../schemas/skills.schema.json
version: 1
skills: {name}
about: What {name} is for.
kinds:
  {name}:
    sentence: {sentence}
    about: Says in a line what it does.
{ports}    on_resume: repeat # after an interruption: once more does no harm
    impl: {name}.py:{name}
"""
_SAMPLE = """\
    params:
      times: {type: integer, default: 1, minimum: 1}
    outputs:
      done: integer
"""
_SAMPLE_STUB = '''\
"""The Python of {name}.yaml. Other forms (generator, async, class): docs/skills.md."""


def {name}(times: int = 1) -> dict[str, int]:
    """Runs in a thread. Return False to fail; a mapping gives the outputs by their names."""
    return {{"done": times}}
'''
_STUB = '''\
"""The Python of {name}.yaml. Other forms (generator, async, class): docs/skills.md."""


def {name}({takes}) -> bool:
    """Runs in a thread. True: it succeeded; False: it failed."""
    raise NotImplementedError("{name} does nothing yet")
'''


def new_skill(root: Path, name: str, params: Mapping[str, str] | None = None) -> dict[Path, str]:
    """Returns the new files of a project with their texts. `params`: each parameter's type; None gives a sample with
    a parameter and an output. Raises for a name that is taken."""
    if not NAME.fullmatch(name):
        raise BtError(f"`{name:.60}` is no name of a skill", "small letters, digits and _, such as open_door")
    for word in filter(iskeyword, (name, *(params or ()))):
        raise BtError(
            f"`{word}` is a word of Python, and names neither a function nor a parameter", "choose another name"
        )
    clash = _clash(root, name)
    if clash:
        raise BtError(f"`{name}` is {clash} already", "choose another name")
    words = name.replace("_", " ").strip() or name
    if params is None:
        sentence, ports, stub = f"{words} {{times}} times", _SAMPLE, _SAMPLE_STUB.format(name=name)
    else:
        sentence = " ".join([words, *(f"{{{param}}}" for param in params)])
        rows = [f"      {param}: {type}\n" for param, type in params.items()]
        ports = "".join(["    params:\n", *rows]) if rows else ""
        takes = ", ".join(f"{p}: {_TYPES.get(t, 'object')}" for p, t in params.items())
        stub = _STUB.format(name=name, takes=takes)
    text = _MANIFEST.format(name=name, sentence=sentence, ports=ports)
    return {root / "skills" / f"{name}.yaml": text, root / "skills" / f"{name}.py": stub}


def _clash(root: Path, name: str) -> str:
    """Says what has the name already; nothing when it is free."""
    known = registry_of(root)
    own = sorted((root / "skills").rglob("*.yaml"))
    found = next((path for path in own if any(kind.name == name for kind in manifest.read(path).kinds)), None)
    if found is not None:
        return f"a skill of {found.relative_to(root)}"
    return "a kind of node" if name in known else ""
