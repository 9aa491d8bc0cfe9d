"""Writes the manifest of imported leaves, and a Python file with a function or a class to fill in for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bt_robots.imports.yaml import document
from bt_runtime.types import Json


class SkillStub(NamedTuple):
    """A leaf that somebody writes by hand."""

    kind: str
    params: dict[str, Json]  # parameters as a manifest has them
    outputs: dict[str, Json]
    follow: list[str]
    instant: bool
    what: str  # its docstring in Python
    sentence: str = ""  # empty: its name and its parameters
    class_name: str = ""  # empty: it is a function


def files(stem: str, stubs: Sequence[SkillStub]) -> dict[str, str]:
    """Returns both files, by their place in the project."""
    return {f"skills/{stem}.yaml": manifest(stem, stubs), f"skills/{stem}.py": python(stem, stubs)}


def manifest(stem: str, stubs: Iterable[SkillStub]) -> str:
    listed: dict[str, Json] = {}
    for each in stubs:
        open_ = {
            name for name, param in each.params.items() if isinstance(param, dict) and param.get("default", 0) is None
        }
        slots = "".join(f" {{{name}}}" for name in each.params if name not in open_)
        sentence = each.sentence or (each.kind if open_ else "")  # what may be left out has no place in it
        listed[each.kind] = {
            **({"sentence": sentence + slots} if sentence else {}),
            "impl": f"{stem}.py:{each.class_name or each.kind}",
            **({"instant": True, "on_resume": "repeat"} if each.instant else {}),
            **({"params": each.params} if each.params else {}),
            **({"outputs": each.outputs} if each.outputs else {}),
            **({"follow": each.follow} if each.follow else {}),
        }
    return document({"version": 1, "skills": stem, "kinds": listed})


def python(stem: str, stubs: Sequence[SkillStub]) -> str:
    lines = [f'"""What the nodes of {stem} do: say it here, one after the other."""', "", "from typing import Any"]
    if any(each.class_name for each in stubs):
        lines += ["", "from bt_runtime import Skill, Status"]
    for each in stubs:
        left = {name: param for name, param in each.params.items() if isinstance(param, dict) and "default" in param}
        names = sorted(each.params, key=left.__contains__)
        params = ", ".join(f"{n}: Any = {left[n]['default']!r}" if n in left else f"{n}: Any" for n in names)
        todo = f'raise NotImplementedError("say in skills/{stem}.py what {each.kind} does")'
        if each.class_name:
            lines += ["", "", f"class {each.class_name}(Skill):", f'    """{each.what}"""', ""]
            lines += [f"    def start(self{', ' if params else ''}{params}) -> None:", f"        {todo}", ""]
            lines += ["    def poll(self) -> Status:", "        return Status.SUCCESS"]
        else:
            lines += ["", "", f"def {each.kind}({params}) -> Any:", f'    """{each.what}"""', f"    {todo}"]
    return "\n".join(lines) + "\n"
