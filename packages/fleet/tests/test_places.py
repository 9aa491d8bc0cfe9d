"""Vehicles claim places of the map from a real server, drive, are killed, face each other; a person frees a place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bt_runtime as bt
from bt_fleet.face import Fleet
from bt_fleet.server.server import Server
from bt_fleet.shared.member import Member
from bt_fleet.shared.traffic import map as maps
from bt_fleet.shared.traffic.places import Driving
from bt_runtime import Faults
from bt_runtime.cli import main
from bt_runtime.events import Line
from packages.fleet.tests.threads import served, until

MAP = """version: 1
wait: [dock, gate, shelf]
pass: [aisle]
lanes:
  - [dock, aisle, shelf]
  - [aisle, gate]
"""
SKILLS = """version: 1
skills: yard
kinds:
  next_stretch:
    sentence: "look for the way from {here} to {to}"
    params: {here: string, to: string}
    outputs: {route: list}
    on_resume: repeat
    impl: fleet/stretch
  drive:
    sentence: "drive {route}"
    params: {route: list, how: {type: string, default: SUCCESS}}
    uses: {"{route}": fleet}
    on_resume: fail
    impl: yard.py:Drive
"""
PYTHON = """
from bt_runtime import Skill, Status


class Drive(Skill):
    def start(self, route, how):
        self.how = how

    def poll(self):
        return Status[self.how]

    def cancel(self):
        self.feedback = "cancelled"
"""
TREE = """version: 1
tree: go
skills: [yard]
inputs: {route: list, how: {type: string, default: SUCCESS}}
root:
  drive: {route: "{route}", how: "{how}"}
"""
WAY = """version: 1
tree: way
skills: [yard]
inputs: {to: string}
blackboard: {here: {type: string, default: dock}, route: {type: list, default: []}}
root:
  sequence:
    - until_failure:
        sequence:
          - check: here != to
          - next_stretch: {here: "{here}", to: "{to}", route: "{route}"}
          - drive: {route: "{route}"}
          - set: {here: "{route[-1]}"}
    - check: here == to
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture
def yard(server: Server, tmp_path: Path) -> Iterator[Path]:
    """A project with a map; afterwards a person frees whatever is held."""
    files = {"btr.yaml": "version: 1\n", "map.yaml": MAP, "skills/yard.yaml": SKILLS, "skills/yard.py": PYTHON}
    for name, text in {**files, "trees/go.yaml": TREE, "trees/way.yaml": WAY}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    yield tmp_path
    with Fleet(server.address) as fleet:
        for place, seen in fleet.places().items():
            if seen.robot:
                fleet.free(place, "the test is over")


def run(yard: Path, member: Member, *route: str, how: str = "SUCCESS") -> bt.Run:
    inputs = {"route": [*route], "how": how}
    return bt.Run(bt.load(yard / "trees/go.yaml"), inputs=inputs, services={"fleet": member})


def held(server: Server) -> dict[str, str]:
    with Fleet(server.address) as fleet:
        return {place: seen.robot for place, seen in fleet.places().items() if seen.robot}


def test_a_vehicle_that_has_arrived_holds_the_place_where_it_stands_and_no_other(server: Server, yard: Path) -> None:
    """The end of its process changes nothing; the next one goes on from there."""
    with Member(server.address, "r1") as member, run(yard, member, "dock", "aisle", "shelf") as going:
        assert going.spin(seconds=60) is bt.Status.SUCCESS
        until(lambda: held(server) == {"shelf": "r1"})
    assert held(server) == {"shelf": "r1"}
    with Member(server.address, "r1") as member, run(yard, member, "shelf", "aisle", "dock") as going:
        assert going.spin(seconds=60) is bt.Status.SUCCESS
        until(lambda: held(server) == {"dock": "r1"})


@pytest.mark.parametrize("end", ["fail", "cancel", "halt"])
def test_a_drive_that_did_not_succeed_keeps_every_place_of_its_stretch(server: Server, yard: Path, end: str) -> None:
    """Failed, cancelled by its tree or halted with its process: the vehicle may stand anywhere in the stretch."""
    with Member(server.address, "r1") as member:
        how = "FAILURE" if end == "fail" else "RUNNING"
        with run(yard, member, "dock", "aisle", "shelf", how=how) as going:
            if end == "fail":
                assert going.spin(seconds=60) is bt.Status.FAILURE
            else:
                until(lambda: going.tick().running and driving(going))
                going.halt("enough") if end == "halt" else going.parts.engine.root.stop(bt.Status.INVALID)
    assert held(server) == {"dock": "r1", "aisle": "r1", "shelf": "r1"}


def driving(going: bt.Run) -> bool:
    """True when the skill of `go` has begun."""
    activity = going.parts.engine.root.activity
    while activity is not None and hasattr(activity, "inner"):
        if isinstance(activity, Driving):
            return not activity.pending
        activity = activity.inner
    return False


def test_a_killed_vehicle_keeps_its_places_until_its_next_process_has_arrived(server: Server, yard: Path) -> None:
    """Others wait and are told with whom; the process that takes the vehicle up again may begin anywhere in what it
    holds, and nowhere else."""
    with Member(server.address, "r1") as dead, run(yard, dead, "dock", "aisle", "shelf", how="RUNNING") as going:
        until(lambda: going.tick().running and driving(going))
        dead.begin(dead.link.nc.close())  # nothing more of this process reaches the server
        with Member(server.address, "r2") as other, run(yard, other, "gate", "aisle", "shelf") as waiting:
            until(lambda: waiting.tick().running and "r1" in waiting.parts.engine.root.feedback_message)
            assert waiting.parts.engine.root.feedback_message.endswith("`aisle` is with r1, `shelf` is with r1")
            with Member(server.address, "r1") as new:
                with run(yard, new, "gate", "aisle", "shelf") as elsewhere:
                    assert elsewhere.spin(seconds=60) is bt.Status.FAILURE
                    assert "begins at `gate`" in elsewhere.parts.engine.root.feedback_message
                with run(yard, new, "aisle", "dock") as again:
                    assert again.spin(seconds=60) is bt.Status.SUCCESS
                assert waiting.spin(seconds=60) is bt.Status.SUCCESS
    assert held(server) == {"dock": "r1", "shelf": "r2"}


def test_vehicles_that_face_each_other_are_told_and_the_last_by_name_gives_up(server: Server, yard: Path) -> None:
    """The one that gives up may drive round; the other one then goes on."""
    with Member(server.address, "r1") as one, Member(server.address, "r2") as two:
        for member, place in ((one, "dock"), (two, "shelf")):
            with run(yard, member, place) as placed:
                assert placed.spin(seconds=60) is bt.Status.SUCCESS
        lines: list[Line] = []
        with run(yard, one, "dock", "aisle", "shelf") as first, run(yard, two, "shelf", "aisle", "dock") as second:
            first.listen(lines.append, Line)
            until(lambda: first.tick().running and not second.tick().running)
            deadlock = "deadlock: r2 waits for `dock` (r1), r1 for `shelf` (r2)"
            assert second.parts.engine.root.feedback_message == deadlock
            with run(yard, two, "shelf", "aisle", "gate") as round_:
                until(lambda: first.tick() and not round_.tick().running)
                assert round_.status is bt.Status.SUCCESS
            assert first.spin(seconds=60) is bt.Status.SUCCESS
        assert [line.text for line in lines] in ([], ["deadlock: r1 waits for `shelf` (r2), r2 for `dock` (r1)"])
    assert held(server) == {"shelf": "r1", "gate": "r2"}


def test_a_person_frees_a_place_and_everybody_is_told_by_whom(
    server: Server, yard: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A vehicle that still drives there is cancelled. A word names the place, its holder and the reason."""
    with Member(server.address, "r1") as member, run(yard, member, "dock", "aisle", "shelf", how="RUNNING") as going:
        until(lambda: going.tick().running and driving(going))
        words = ["fleet", "places", "--server", server.url]
        assert main([*words, "--free", "aisle", "--reason", "r1 was towed away"]) == 0
        assert going.spin(seconds=60) is bt.Status.FAILURE
        assert "`aisle` was freed: somebody: r1 was towed away" in going.parts.engine.root.feedback_message
        assert capsys.readouterr().out.startswith("aisle: r1 held it\n")
        assert main(words) == 0
        said = capsys.readouterr().out
        assert [line for line in said.splitlines() if line.split()[0] in ("aisle", "dock", "shelf")] == [
            f"{'aisle':<24} -  (somebody: r1 was towed away)", f"{'dock':<24} r1", f"{'shelf':<24} r1",
        ]  # fmt: skip
        assert main([*words, "--free", "aisle"]) == 2


def test_a_way_is_driven_stretch_by_stretch_round_what_others_hold(server: Server, yard: Path) -> None:
    """`fleet/stretch` ends at each place where one can wait, and takes another way where there is one."""
    (yard / "map.yaml").write_text(MAP.replace("lanes:\n", "lanes:\n  - [dock, gate, shelf]\n"))
    with Member(server.address, "r1") as one, Member(server.address, "r2") as two:
        with run(yard, two, "aisle", "gate", how="FAILURE") as broken:
            broken.spin(seconds=60)
        with Fleet(server.address) as fleet:
            fleet.free("gate", "r2 stands in the aisle")
        until(lambda: "gate" not in held(server))
        tree = bt.load(yard / "trees/way.yaml")
        with bt.Run(tree, inputs={"to": "shelf"}, services={"fleet": one}) as way:
            assert way.spin(seconds=60) is bt.Status.SUCCESS
        until(lambda: held(server) == {"shelf": "r1", "aisle": "r2"})


@pytest.mark.parametrize(("route", "why"), [
    ([], "the stretch is empty"),
    (["dock", "aisle"], "nobody may wait at `aisle`"),
    (["dock", "shelf"], "no lane leads from `dock` to `shelf`"),
    (["dock", "ailse"], "no place `ailse`; did you mean `aisle`?"),
    (["dock", "aisle", "dock"], "passes one place twice"),
    ([1], "names no places"),
])  # fmt: skip
def test_what_is_no_stretch_of_the_map_fails_with_the_reason(
    server: Server, yard: Path, route: list[str], why: str
) -> None:
    with Member(server.address, "r1") as member, run(yard, member, *route) as going:
        assert going.spin(seconds=60) is bt.Status.FAILURE
        assert why in going.parts.engine.root.feedback_message
    assert held(server) == {}


@pytest.mark.parametrize("uses", ['{"{rout}": fleet}', '{"{route}": robot}'])
def test_a_claim_by_no_parameter_is_a_fault_of_the_manifest(yard: Path, uses: str) -> None:
    """It is told with its line, before anything drives."""
    file = yard / "skills/yard.yaml"
    file.write_text(file.read_text().replace('{"{route}": fleet}', uses))
    with pytest.raises(Faults, match=r"yard.yaml:13:\d+: error.*`uses` cannot have"):
        bt.load(yard / "trees/go.yaml")


def test_without_a_map_nothing_drives(server: Server, yard: Path) -> None:
    (yard / "map.yaml").unlink()
    with Member(server.address, "r1") as member, run(yard, member, "dock") as going:
        assert going.spin(seconds=60) is bt.Status.FAILURE
        assert "the project has no map.yaml" in going.parts.engine.root.feedback_message


@pytest.mark.parametrize(("text", "line", "message"), [
    ("wait: [dock]\nlanes: [[dock, aisle]]\n", 3, "`aisle` is no place"),
    ("wait: [dock]\npass: [dock]\n", 3, "`dock` stands here twice"),
    ("wait: []\n", 2, "at least 1 entr"),
    ("pass: [aisle]\n", None, "wait"),
    ("wait: ['a place']\n", 2, "a place has 1 to 64"),
    ("wait: [dock]\nlane: [[dock, dock]]\n", 3, "lane"),
])  # fmt: skip
def test_a_faulty_map_is_told_with_its_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    (tmp_path / "map.yaml").write_text("version: 1\n" + text)
    with pytest.raises(Faults) as caught:
        maps.read(tmp_path / "map.yaml")
    found = caught.value.diagnostics[0]
    assert message in f"{found.message} {found.label}"
    assert line is None or (found.span is not None and found.span.line == line)


def test_a_lease_and_a_claim_never_share_a_key(server: Server, yard: Path) -> None:
    """A lease ends by time. It would free the place of the same name under its own robot."""
    with Member(server.address, "r1") as member:
        with run(yard, member, "dock") as placed:
            assert placed.spin(seconds=60) is bt.Status.SUCCESS
        with Member(server.address, "r2") as other:
            until(lambda: other.locks.holds("dock"))
        assert held(server) == {"dock": "r1"}
