"""`btr doctor` reads from the package's metadata what belongs to an extra."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from bt_runtime.cli.setup import doctor

EXTRAS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
NOT_TOLD = {"all", "demo"}  # sums


def test_every_extra_has_a_line() -> None:
    assert {*doctor.PURPOSES} == {*EXTRAS} - NOT_TOLD


@pytest.mark.parametrize(("extra", "package"), [("robot", "pyzmq"), ("eval", "ray"), ("lsp", "pygls")])
def test_an_extra_of_which_a_package_is_missing_is_absent(
    extra: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if name == package:
            raise PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(doctor, "version", version)
    told = {check.name: check for check in doctor._extras()}
    assert told[extra].state == "absent"
    assert told[extra].said.endswith(f"without {package}")
    assert {name for name, check in told.items() if check.state == "absent"} <= {extra, "distill"}


def test_what_an_extra_installs_is_read_from_its_requirements(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "py_trees<3,>=2.4",
        "pyzmq<28,>=26; extra == 'robot'",
        'mcap>=1.1; extra == "robot"',
        "a; extra == 'robots'",
    ]
    monkeypatch.setattr(doctor, "requires", lambda name: lines)
    assert doctor.packages_of("robot") == ["pyzmq", "mcap"]
