"""What a manifest says of ROS is checked with the manifest; and what is installed may do skills as ROS does."""

from __future__ import annotations

from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.clock import Manual
from bt_runtime.language import impls, manifest
from bt_runtime.language.project import plugins
from bt_runtime.plugins import Implementation
from packages.robots.tests.ros.conftest import HOME
from tests.plugged import plug

HEAD = "version: 1\nskills: nav\nkinds:\n  go:\n"
SOUND = """    impl: ros/action
    action: /navigate_to_pose
    type: nav2_msgs/action/NavigateToPose
    params: {x: number}
    goal: {pose: {pose: {position: {x: "{x}"}}}}
    outputs: {left: number}
    feedback: {left: distance_remaining}
"""


def faults(text: str) -> list[str]:
    return [f"{fault.span.line if fault.span else 0}: {fault.message}" for fault in manifest.parse(text).diagnostics]


def test_a_sound_manifest_has_no_faults_and_needs_no_ros() -> None:
    assert faults(HEAD + SOUND) == []


FAULTS = {
    "impl: ros/actoin": "5: `ros` has no `actoin`",
    "impl: rso/action": "5: nothing that is installed does `rso/action`",
    "action: /a b": "6: a name of ROS has letters, digits and _ between its /",
    "type: NavigateToPose": "7: a type of ROS is written as `nav2_msgs/action/NavigateToPose`",
    "goal: {pose: {pose: {position: {x: '{y}'}}}}": "9: `goal` has a hole {y} that is not a parameter",
    "feedback: {rest: distance_remaining}": "11: `feedback` fills `rest`, which is not an output",
    "feedback: {left: 'a b'}": "11: `b` does not fit here",
}


@pytest.mark.parametrize("line", FAULTS)
def test_what_is_wrong_is_told_with_its_line(line: str) -> None:
    key = line.partition(":")[0]
    text = "\n".join(f"    {line}" if each.strip().startswith(f"{key}:") else each for each in SOUND.split("\n"))
    assert any(each.startswith(FAULTS[line]) for each in faults(HEAD + text)), faults(HEAD + text)


def test_a_key_that_lacks_or_belongs_to_another_way_is_a_fault() -> None:
    lacking = "\n".join(each for each in SOUND.split("\n") if "action:" not in each)
    assert any("`go` lacks `action`, which `ros/action` needs" in each for each in faults(HEAD + lacking))
    assert any("no `topic`" in each for each in faults(HEAD + SOUND + "    topic: /pose\n"))
    world = HEAD + SOUND + "  look:\n    action: /look\n"
    assert any("a skill of `world` has no `action`" in each for each in faults(world))
    assert any("has no `action`" in each for each in faults("version: 1\nskills: a\nkinds:\n  b: {action: /b}\n"))


PLUGIN = """
from bt_runtime.plugins import Implementation

TUNE = {"tune": {"type": "string", "description": "Which."}}
WAYS = {"hum": Implementation("Hums.", "humming:make", TUNE, ("tune",))}
NOTHING = 3
HUMMED = []


def make(kind, context):
    return lambda times=1: HUMMED.append((kind.data["entry"].options["tune"], times))
"""
HUMMING = "version: 1\nskills: music\nkinds:\n  hum: {impl: radio/hum, tune: la, params: {times: integer}}\n"


def test_somebody_else_s_way_to_do_a_skill_is_on_the_same_footing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "humming.py").write_text(PLUGIN)
    plug(monkeypatch, site, "radio-1.0", {"impls": {"radio": "humming:WAYS", "broken": "humming:NOTHING"}})
    assert set(plugins.names("impls")) == {"broken", "fleet", "mcp", "radio", "ros"}
    (tmp_path / "skills").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills" / "music.yaml").write_text(HUMMING)
    (tmp_path / "t.yaml").write_text("version: 1\ntree: t\nskills: [music]\nroot: {hum: {times: 3}}\n")
    with bt.Run(bt.load(tmp_path / "t.yaml", project=tmp_path)) as run:
        assert run.spin() is bt.Status.SUCCESS
    assert __import__("humming").HUMMED == [("la", 3)]
    assert any("radio/hum" in each for each in impls.every()) and "tune" in impls.keys_of(impls.every())
    assert any("is not a mapping of names" in each for each in faults(HUMMING.replace("radio/", "broken/")))


def test_the_way_that_the_page_makes_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (HOME / "docs" / "extending.md").read_text("utf-8")
    site = tmp_path / "site" / "greenhouse"
    site.mkdir(parents=True)
    (site / "__init__.py").write_text("")
    (site / "ways.py").write_text(page.partition("```python greenhouse/ways.py\n")[2].partition("```")[0])
    plug(monkeypatch, site.parent, "greenhouse-1.0", {"impls": {"greenhouse": "greenhouse.ways:WAYS"}})
    line = page.partition("In a manifest: `")[2].partition("`.")[0]
    (tmp_path / "skills").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills" / "beds.yaml").write_text(f"version: 1\nskills: beds\nkinds:\n  {line}\n")
    (tmp_path / "t.yaml").write_text("version: 1\ntree: t\nskills: [beds]\nroot: {water_bed: 5}\n")
    with bt.Run(bt.load(tmp_path / "t.yaml", project=tmp_path), clock=Manual()) as run:
        assert run.tick().running and run.parts.engine.root.feedback_message == "pin 4 is open"
        assert run.spin() is bt.Status.SUCCESS


def test_every_way_of_ours_names_what_is_there() -> None:
    from importlib import import_module

    for name in impls.every(ours=True):
        found = impls.find(name)
        assert isinstance(found, Implementation) and set(found.required) <= set(found.keys)
        for reference in filter(None, (found.make, found.check)):
            module, _, attribute = reference.partition(":")
            assert callable(getattr(import_module(module), attribute))
