"""Skills in Python are looked at and never run: what is certainly wrong is said, all else is passed over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bt_runtime import Diagnostic
from bt_runtime.language import python_file
from bt_runtime.language.loader import Loader

PYTHON = """
raise SystemExit("this file is never run")
import bt_runtime as bt
from dataclasses import dataclass, field
from elsewhere import wrapped, other as renamed
from functools import partial

def scan(place, *, far=2): ...
def open_door(door, **more): ...
def by_place(place, /): ...
async def slow(place): ...
def steps(place):
    yield
@wrapped
def decorated(): ...
@bt.skill("scan {place}")
def marked(place): ...
turned = partial(scan, far=1)
if bt:
    def sometimes(place): ...

class Drive(bt.Skill):
    def start(self, place, speed=1.0): ...
    def poll(self): ...
class Made(bt.Skill):
    def __init__(self, robot): ...
    def start(self): ...
class Called:
    def __call__(self, place): ...
class Neither:
    def go(self): ...
class Foreign(renamed):
    pass
@dataclass
class Data(bt.Skill):
    speed: float = 1.0
    def start(self, place): ...
@dataclass
class Open(bt.Skill):
    speed: float
    def start(self, place): ...
class Named:
    async def start(self, place): ...
    def poll(self): ...
@bt.condition
def old(): ...
"""
GOOD = [
    ("scan", "place"), ("scan", "place far"), ("open_door", "door handle"), ("slow", "place"), ("steps", "place"),
    ("decorated", "anything"), ("marked", "place"), ("turned", "anything"), ("sometimes", "place"),
    ("Drive", "place"), ("Drive", "place speed"), ("Called", "place"), ("Foreign", "anything"), ("Data", "place"),
    ("renamed", "x"), ("Named", "place"),
]  # fmt: skip
BAD = [
    ("nothing", "", "`base.py` has no `nothing`"),
    ("scann", "place", "`base.py` has no `scann`"),
    ("scan", "places", "`scan` takes no `places`"),
    ("scan", "", "`scan` needs `place`, which is not among `params`"),
    ("marked", "place far", "`marked` takes no `far`"),
    ("open_door", "handle", "`open_door` needs `door`, which is not among `params`"),
    ("by_place", "place", "`place` can only be given by its position, and a skill is called by names"),
    ("slow", "", "`slow` needs `place`, which is not among `params`"),
    ("Drive", "place goal", "`Drive` takes no `goal`"),
    ("Made", "", "`Made()` needs `robot`, and a skill is made with nothing"),
    ("Called", "", "`Called` needs `place`, which is not among `params`"),
    ("Neither", "", "`Neither` has no `poll`, and cannot be called"),
    ("Open", "place", "`Open()` needs `speed`, and a skill is made with nothing"),
    ("old", "", "`old` is marked `@condition`: write `@skill(…, condition=True)`"),
]
Found = Callable[..., list[Diagnostic]]


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """The faults of a tree that uses the one skill of a manifest, which has this implementation."""

    def load(impl: str, params: str = "", python: str = PYTHON, used: bool = True, more: str = "") -> list[Diagnostic]:
        for folder in ("trees", "skills"):
            (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / "btr.yaml").write_text("version: 1\n")
        (tmp_path / "skills" / "base.py").write_text(python)
        listed = "".join(f"\n      {name}: any" for name in params.split())
        text = f"version: 1\nskills: base\nkinds:\n  act:\n    impl: {impl}\n    params:{listed or ' {}'}\n{more}"
        (tmp_path / "skills" / "base.yaml").write_text(text)
        given = ", ".join(f"{name}: 1" for name in params.split())
        root = f"act: {{{given}}}" if used else "log: a"
        return list(Loader(tmp_path).text(f"version: 1\ntree: t\nskills: [base]\nroot:\n  {root}\n").diagnostics)

    return load


@pytest.mark.parametrize(("name", "params"), GOOD)
def test_what_fits_or_cannot_be_known_is_no_fault(found: Found, name: str, params: str) -> None:
    assert found(f"base.py:{name}", params) == []


@pytest.mark.parametrize(("name", "params", "message"), BAD)
def test_what_cannot_be_called_so_is_a_fault_of_the_manifest(
    found: Found, name: str, params: str, message: str
) -> None:
    (fault,) = found(f"base.py:{name}", params)
    assert (fault.code, fault.message, Path(fault.file).name) == ("BT050", message, "base.yaml")
    assert fault.label or fault.help


def test_a_parameter_is_at_fault_where_it_is_named_and_its_likely_name_is_said(found: Found) -> None:
    (fault,) = found("base.py:scan", "places")
    assert fault.span is not None and (fault.span.line, fault.span.column) == (7, 7)
    assert fault.label == "did you mean `place`?"


@pytest.mark.parametrize(
    ("impl", "message"),
    [
        ("nofile.py:x", "there is no file `nofile.py`"),
        ("base.py", "`base.py` is not of the form module:Name or path.py:Name"),
        ("bt_runtime.nowhere:x", "there is no module `nowhere` in `bt_runtime`"),
        ("bt_runtime.testing:nothing_at_all", "`bt_runtime.testing` has no `nothing_at_all`"),
    ],
)
def test_what_is_not_there_is_told(found: Found, impl: str, message: str) -> None:
    (fault,) = found(impl)
    assert (fault.code, fault.message, fault.severity) == ("BT050", message, "error")


def test_a_module_that_is_not_installed_here_is_a_warning(found: Found) -> None:
    (fault,) = found("robot_of_ours:x")
    assert (fault.message, fault.severity) == ("there is no module `robot_of_ours` here", "warning")


def test_an_error_of_syntax_has_its_place_in_the_python_file(found: Found) -> None:
    (fault,) = found("base.py:scan", "place", python="def scan(place):\n    return (1,\n")
    assert Path(fault.file).name == "base.py"
    assert fault.span is not None and fault.span.line == 2
    assert fault.message.startswith("this is not Python: ")


def test_only_skills_that_the_tree_uses_are_looked_at(found: Found) -> None:
    assert found("base.py:nothing", used=False) == []


@pytest.mark.parametrize(
    "python",
    ["from elsewhere import *", "def __getattr__(name): ...", "globals()['nothing'] = 1", "\0", "x = 1\n" * 300_000],
)
def test_a_module_whose_names_cannot_be_known_has_no_missing_names(found: Found, python: str) -> None:
    assert not [fault for fault in found("base.py:nothing", python=python) if "has no" in fault.message]


def test_a_file_that_has_changed_is_read_again(found: Found) -> None:
    assert found("base.py:nothing")
    assert found("base.py:nothing", python=PYTHON + "def nothing(): ...\n") == []


def test_a_py_node_names_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("class Wave: ...\n")
    for name, faults in {"parts.py:Wave": [], "parts.py:Wafe": ["`parts.py` has no `Wafe`"]}.items():
        text = f"version: 1\ntree: t\nroot:\n  py: {name}\n"
        assert [d.message for d in Loader(tmp_path).text(text, folder=tmp_path).diagnostics] == faults


def test_python_that_is_too_large_to_be_looked_at_is_not_parsed_and_told(
    found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_file, "_read", lambda *_: pytest.fail("it was parsed"))
    (fault,) = found("base.py:act", python="x = 1\n" * 20_000)
    assert (fault.code, fault.severity) == ("BT050", "warning")
    assert fault.message == "`base.py` holds more than 100,000 bytes: whether it has `act` is not checked"
