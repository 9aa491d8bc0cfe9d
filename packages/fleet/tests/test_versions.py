"""Versions of trees are signed, fetched, checked and tried on some robots before all run them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")
pytest.importorskip("nacl", reason="needs the fleet extra")

import bt_runtime as bt
from bt_fleet.coordinator.bid import Known
from bt_fleet.face import Fleet
from bt_fleet.robot.card import Card
from bt_fleet.robot.held import Held, Own
from bt_fleet.robot.robot import Agent
from bt_fleet.robot.runner import Outcome
from bt_fleet.server.keys import Key, Keys, public_of, read
from bt_fleet.server.link import Address, Link
from bt_fleet.store import record
from bt_fleet.store.task import Task
from bt_fleet.versions import bundle
from bt_fleet.versions.bundle import Bundle, Terms
from bt_fleet.versions.deployment import Count, Deployment, rise
from bt_fleet.versions.versions import Versions
from bt_runtime import BtError
from packages.fleet.tests.still import Still
from packages.fleet.tests.test_keys import guarded_fleet
from packages.fleet.tests.threads import until

TREE = "version: 1\ntree: patrol\nskills: [home]\nroot:\n  sequence:\n    - tree: {file: inner.yaml}\n    - ROOT: {}\n"
INNER = "version: 1\ntree: inner\nroot:\n  succeed: {}\n"
TERMS = Terms("patrol", 5, "")
HOME = "version: 1\nskills: home\nimpl: acts.py:Act\nkinds:\n  look: {sentence: look}\n"


def project(folder: Path, root: str = "succeed") -> Path:
    for name, text in {
        "btr.yaml": "", "trees/patrol.yaml": TREE.replace("ROOT", root), "trees/inner.yaml": INNER,
        "trees/other.yaml": INNER, "skills/home.yaml": HOME, "skills/acts.py": "class Act: ...\n",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return read(Keys(tmp_path / "keys").add("operator", "ann", tmp_path / "ann.key"))


def test_a_version_is_what_the_tree_needs_and_no_code(tmp_path: Path, key: Key) -> None:
    """Its files are the tree, what it includes and its manifests; the same content has the same name."""
    made = bundle.made("patrol", project(tmp_path / "a"))
    assert sorted(made.files) == ["skills/home.yaml", "trees/inner.yaml", "trees/patrol.yaml"]
    assert made.digest == bundle.made("patrol", project(tmp_path / "b")).digest
    assert made.digest != bundle.made("patrol", project(tmp_path / "c", "fail")).digest
    assert bundle.opened(made.sealed(key, TERMS), made.digest, {public_of(key.seed)}) == (made, TERMS)


def test_a_version_of_somebody_else_or_a_changed_one_is_refused(tmp_path: Path, key: Key) -> None:
    """A stranger's signature, a changed text, another name and a path outside are each refused before anything is laid
    down."""
    other = read(Keys(tmp_path / "keys").add("operator", "eve", tmp_path / "eve.key"))
    made, ours = bundle.made("patrol", project(tmp_path / "a")), {public_of(key.seed)}
    with pytest.raises(BtError, match="does not trust"):
        bundle.opened(made.sealed(other, TERMS), made.digest, ours)
    with pytest.raises(BtError, match="is not what"):
        bundle.opened(made.sealed(key, TERMS).replace(b"succeed", b"succeeD"), made.digest, ours)
    with pytest.raises(BtError, match="is not what"):
        bundle.opened(made.sealed(key, TERMS).replace(b'"number": 5', b'"number": 6'), made.digest, ours)
    with pytest.raises(BtError, match="is not what"):
        bundle.opened(made.sealed(key, TERMS), "0" * 32, ours)
    for path in ("../evil.yaml", "/etc/evil.yaml", "trees/../../evil.yaml", ".fleet/takes-code", "trees/evil.so"):
        evil = Bundle(path, {path: "x"})
        with pytest.raises(BtError, match="has a file"):
            bundle.opened(evil.sealed(key, TERMS), evil.digest, ours)


def test_a_version_is_checked_and_laid_over_the_robots_project(tmp_path: Path) -> None:
    """The robot's own Python stays as it is; a tree with a fault and Python that nobody asked for are not taken."""
    robot, made = project(tmp_path / "robot"), bundle.made("patrol", project(tmp_path / "a", "fail"))
    (robot / "skills" / "acts.py").write_text("class Act:\n    own = True\n")
    path = bundle.unpacked(made, robot, tmp_path / "v1")
    assert "fail" in path.read_text()
    assert "own = True" in (tmp_path / "v1" / "skills" / "acts.py").read_text()
    faulty = Bundle("trees/patrol.yaml", {"trees/patrol.yaml": "version: 1\ntree: t\nroot: {nonsense: {}}\n"})
    with pytest.raises(bt.Faults):
        bundle.unpacked(faulty, robot, tmp_path / "v2")
    assert not (tmp_path / "v2").exists()
    code = bundle.made("patrol", project(tmp_path / "a"), code=True)
    assert code.code == ["skills/acts.py"]
    with pytest.raises(BtError, match="brings Python"):
        bundle.unpacked(code, robot, tmp_path / "v3")
    bundle.unpacked(code, robot, tmp_path / "v3", code=True)
    assert "own = True" not in (tmp_path / "v3" / "skills" / "acts.py").read_text()


@pytest.mark.parametrize("name", ["btr.yaml", "trees/btr.yaml", "skills/BTR.yaml"])
def test_a_robot_keeps_its_own_settings(tmp_path: Path, key: Key, name: str) -> None:
    """A version that brings a `btr.yaml` is refused, at whatever depth; another one leaves the robot's as it is."""
    made, ours = bundle.made("patrol", project(tmp_path / "a")), {public_of(key.seed)}
    evil = Bundle(made.tree, {**made.files, name: "version: 1\nallow: {python: [os]}\n"})
    with pytest.raises(BtError, match="a robot keeps its own"):
        bundle.opened(evil.sealed(key, TERMS), evil.digest, ours)
    robot = project(tmp_path / "robot")
    (robot / "btr.yaml").write_text("version: 1\npolicies: robot\n")
    bundle.unpacked(made, robot, tmp_path / "v1")
    assert (tmp_path / "v1" / "btr.yaml").read_text() == "version: 1\npolicies: robot\n"


SH = "version: 1\nskills: home\nkinds:\n  look: {impl: IMPL, params: {command: string}, sentence: 'run {command}'}\n"
RUNS = "version: 1\ntree: patrol\nskills: [home]\nroot:\n  look: {command: id}\n"


@pytest.mark.parametrize("impl", ["os:system", "acts.py:os.system", "acts.py:Other"])
def test_a_robot_that_takes_no_code_runs_only_what_its_project_names(tmp_path: Path, impl: str) -> None:
    """A manifest of a version may name the Python that the robot's own manifests name. Anything else is refused before
    it is there, although the robot's settings allow the module."""
    robot = project(tmp_path / "robot")
    (robot / "btr.yaml").write_text("version: 1\nallow: {python: [os]}\n")
    (robot / "skills" / "acts.py").write_text("import os\ndef Act(command: str): ...\ndef Other(command: str): ...\n")
    files = {"trees/patrol.yaml": RUNS, "skills/home.yaml": SH.replace("IMPL", f'"{impl}"')}
    evil = Bundle("trees/patrol.yaml", files)
    with pytest.raises(BtError, match="does not name"):
        bundle.unpacked(evil, robot, tmp_path / "v1")
    assert list(tmp_path.glob("v1*")) == []
    if impl == "acts.py:Other":
        bundle.unpacked(evil, robot, tmp_path / "v1", code=True)
    good = Bundle("trees/patrol.yaml", {**files, "skills/home.yaml": SH.replace("IMPL", "acts.py:Act")})
    bundle.unpacked(good, robot, tmp_path / "v2")


@pytest.mark.parametrize("root", [
    "py: {class: '../skills/acts.py:Node'}",
    "py: {class: 'py_trees.behaviours:Dummy', args: {name: {py: 'py_trees.console:os.abort'}}}",
    "py: {class: 'py_trees.decorators:EternalGuard', args: {condition: 'os:getpid'}, children: [{succeed: {}}]}",
    "episode: {world: '../skills/acts.py:Node', task: {id: a}, child: {succeed: {}}}",
])  # fmt: skip
def test_a_version_names_no_python_in_its_tree(tmp_path: Path, root: str) -> None:
    """A `py` node, its arguments and an episode's world are refused, although the robot's settings allow the module."""
    robot = project(tmp_path / "robot")
    (robot / "btr.yaml").write_text("version: 1\nallow: {python: [os]}\n")
    (robot / "skills" / "acts.py").write_text("from py_trees.behaviours import Success as Node\n")
    own = f"version: 1\ntree: patrol\nroot:\n  {root}\n"
    with pytest.raises(BtError, match="does not name"):
        bundle.unpacked(Bundle("trees/patrol.yaml", {"trees/patrol.yaml": own}), robot, tmp_path / "v1")
    (robot / "trees" / "own.yaml").write_text(own)  # the robot's own tree may, and then a version may
    bundle.unpacked(Bundle("trees/patrol.yaml", {"trees/patrol.yaml": own}), robot, tmp_path / "v1")


def test_a_version_brings_no_file_that_its_tree_does_not_read(tmp_path: Path) -> None:
    """Such a file would lie among those of the robot's own Python."""
    tree = "version: 1\ntree: patrol\nroot:\n  succeed: {}\n"
    with pytest.raises(BtError, match="does not read"):
        more = {"trees/patrol.yaml": tree, "skills/data.json": "{}"}
        bundle.unpacked(Bundle("trees/patrol.yaml", more), project(tmp_path / "robot"), tmp_path / "v2")


class Stored(Versions):
    """Versions without a server: what was sealed last under a digest."""

    def __init__(self, robot: Path, folder: Path, trusted: set[str]) -> None:
        super().__init__(None, robot, folder, trusted, lambda: self.now)  # type: ignore[arg-type]
        self.sealed: dict[str, bytes] = {}
        self.now = 0.0

    async def _fetched(self, digest: str) -> bytes:
        return self.sealed[digest]


def test_a_robot_goes_back_only_by_a_new_signature(tmp_path: Path, key: Key) -> None:
    """Of a tree the newest version that was here counts, also after a restart. The one that it replaced is taken, as
    when a canary is taken back; an older one only when it was signed again; one of another tree never."""
    robot, trusted = project(tmp_path / "robot"), {public_of(key.seed)}
    roots = ("succeed", "fail", "fail: {}\n    - fail")
    one, two, three = (bundle.made("patrol", project(tmp_path / str(n), root)) for n, root in enumerate(roots))
    stored = Stored(robot, tmp_path / "state", trusted)
    stored.sealed = {
        one.digest: one.sealed(key, Terms("patrol", 1)), two.digest: two.sealed(key, Terms("patrol", 2, one.digest)),
        three.digest: three.sealed(key, Terms("patrol", 3, two.digest)),
    }  # fmt: skip

    async def play() -> None:
        nonlocal stored
        for made in (one, two, three, two):
            assert await stored.path("patrol", made.digest)
        again = Stored(robot, tmp_path / "state", trusted)
        again.sealed = stored.sealed
        for versions in (stored, again):
            with pytest.raises(BtError, match="is older than one that was here"):
                await versions.path("patrol", one.digest)
        with pytest.raises(BtError, match="was signed as `patrol`, not as `other`"):
            await again.path("other", three.digest)
        (robot / "btr.yaml").write_text("version: 1\npolicies: robot\n")
        path = await again.path("patrol", three.digest)
        assert "policies: robot" in (path.parents[1] / "btr.yaml").read_text(), "also of one that is there"
        again.now = 10.0
        again.sealed[one.digest] = one.sealed(key, Terms("patrol", 4, three.digest))
        assert await again.path("patrol", one.digest)
        with pytest.raises(BtError, match="is older"):
            await again.path("patrol", two.digest)

    asyncio.run(play())


def test_a_refused_version_is_looked_at_again_after_a_while(tmp_path: Path, key: Key) -> None:
    """Within some seconds the answer is at hand, in time for a call for bids; later it may be mended."""
    made = bundle.made("patrol", project(tmp_path / "a"))
    robot = project(tmp_path / "robot")
    stored = Stored(robot, tmp_path / "state", {public_of(key.seed)})
    stored.sealed[made.digest] = made.sealed(key, Terms("other", 1))
    evil = Bundle("trees/patrol.yaml", {"trees/patrol.yaml": RUNS, "skills/home.yaml": SH.replace("IMPL", "os:system")})
    stored.sealed[evil.digest] = evil.sealed(key, Terms("patrol", 1))

    async def play() -> None:
        with pytest.raises(BtError, match="was signed as"):
            await stored.path("patrol", made.digest)
        stored.sealed[made.digest] = made.sealed(key, Terms("patrol", 2))
        with pytest.raises(BtError, match="was signed as"):
            await stored.path("patrol", made.digest)
        with pytest.raises(BtError, match="the module `os` is not part of the project"):
            await stored.path("patrol", evil.digest)
        stored.now = 6.0
        assert await stored.path("patrol", made.digest)

    asyncio.run(play())


@pytest.mark.parametrize(
    "odd", ["skills/a\0b.yaml", f"skills/{'a' * 300}.yaml", "skills/a\udc80.yaml", "trees/patrol.yaml/x.yaml"]
)
def test_a_version_that_cannot_be_laid_down_is_refused_in_words(tmp_path: Path, key: Key, odd: str) -> None:
    """So the robot says why, and bids for other tasks of the same call."""
    own = (project(tmp_path / "robot") / "trees" / "patrol.yaml").read_text()
    stored = Stored(tmp_path / "robot", tmp_path / "state", {public_of(key.seed)})
    made = Bundle("trees/patrol.yaml", {"trees/patrol.yaml": own, odd: "x"})
    stored.sealed[made.digest] = made.sealed(key, Terms("patrol", 1))
    with pytest.raises(BtError):
        asyncio.run(stored.path("patrol", made.digest))
    assert not list((tmp_path / "state").glob("*.part"))


def test_a_rise_of_failures_takes_a_version_back() -> None:
    """The rule is Fisher's exact test: few failures are no rise, twenty good ends give it to all."""
    tried = Deployment("patrol", "old", "new", 0.1)
    assert rise(Count(3, 10), Count(3, 10)) > 0.5
    assert rise(Count(1, 10), Count(2, 2)) == pytest.approx(3 / 66)
    assert tried.judged(Count(1, 40), Count(1, 1), 0.0) is None
    back = tried.judged(Count(1, 40), Count(3, 5), 0.0)
    assert back is not None
    assert (back.stable, back.candidate) == ("old", "")
    assert back.notes[-1].startswith("0 back: 3 of 5 failed, against 1 of 40 failed before")
    good = tried.judged(Count(2, 40), Count(1, 20), 0.0)
    assert good is not None
    assert (good.stable, good.candidate) == ("new", "")


def test_the_same_robots_try_a_version_and_one_at_least() -> None:
    """A tenth of ten robots is one, of three one; who it is does not change while robots of that name are there."""
    tried = Deployment("patrol", "old", "new", 0.1)
    robots = [f"r{n}" for n in range(10)]
    assert len(tried.canaries(robots)) == len(tried.canaries(robots[:3])) == 1
    assert tried.canaries(robots) == tried.canaries(reversed(robots))
    assert {tried.version(name, robots) for name in robots} == {"old", "new"}


class Tries(Still):
    """A runner that takes versions as a robot does; a tree with a `fail` in it fails."""

    def __init__(self, versions: Versions) -> None:
        self.versions = versions

    async def known(self, task: Task) -> Known:
        if task.digest:
            await self.versions.path(task.tree, task.digest)
        return Known(0.01, record.REPEAT)

    async def run(self, own: Own, again: bool) -> Outcome:
        assert own.task.digest is not None
        text = (await self.versions.path(own.task.tree, own.task.digest)).read_text()
        return Outcome(record.FAILURE if "fail" in text else record.SUCCESS)


def test_a_worse_version_is_tried_by_some_robots_and_taken_back(tmp_path: Path) -> None:
    """Robots without the tree fetch it with their own keys; the canary's failures bring all back to the old version."""

    def play(url: str) -> tuple[Deployment, dict[str, str]]:
        ann = Address(url, creds=tmp_path / "ann.key")
        with Fleet(ann, "ann") as fleet:
            signer = read(tmp_path / "ann.key")
            good = bundle.made("patrol", project(tmp_path / "good"))
            bad = bundle.made("patrol", project(tmp_path / "bad", "fail"))
            fleet.deploy(good, signer)
            for number in range(3):
                fleet.send("patrol", id=f"g{number}")
                assert fleet.wait(f"g{number}", 60).verdict == "success"
            fleet.deploy(bad, signer, share=0.5)
            canary = Deployment("patrol", good.digest, bad.digest, 0.5).canaries(["r7", "r8"]).pop()
            for number in range(3):
                fleet.send("patrol", id=f"b{number}", to=canary)
                fleet.wait(f"b{number}", 60)
                until(lambda number=number: number != 1 or not fleet.deployments()["patrol"].candidate)
            fleet.back_to("patrol", bad.digest, signer)
            fleet.send("patrol", id="c0", to=canary)
            fleet.wait("c0", 60)
            fleet.back_to("patrol", good.digest, signer)
            fleet.send("patrol", id="c1", to=canary)
            fleet.wait("c1", 60)
            return fleet.deployments()["patrol"], {held.task.id: held.verdict or "" for held in fleet.ls()}

    async def main() -> None:
        async with guarded_fleet(tmp_path) as (server, links):
            trusted = {public_of(read(tmp_path / "ann.key").seed)}
            agents, closing = [], []
            for name in ("r7", "r8"):
                own = project(tmp_path / name)
                (own / "trees" / "patrol.yaml").unlink()
                link = Link(Address(server.url, creds=tmp_path / f"{name}.key"), name)
                runner = Tries(Versions(link, own, tmp_path / "state" / name, trusted))
                held = Held(tmp_path / f"{name}.db")
                agents.append(asyncio.create_task(Agent(Card(name), link, held, runner).work()))
                closing.append((link, held))
            found, verdicts = await asyncio.wait_for(asyncio.to_thread(play, server.url), 100)
            assert links["coordinator"].refused == ""
            for agent in agents:
                agent.cancel()
            await asyncio.gather(*agents, return_exceptions=True)
            for link, held in closing:
                await link.close()
                held.close()
        assert [verdicts[f"g{n}"] for n in range(3)] == ["success"] * 3
        assert [verdicts[f"b{n}"] for n in range(3)] == ["failure", "failure", "success"], json.dumps(verdicts)
        assert [verdicts[name] for name in ("c0", "c1")] == ["failure", "success"], "an operator goes back by hand"
        assert found.candidate == ""
        assert "back: 2 of 2 failed, against 0 of 3 failed before" in found.notes[-3]

    asyncio.run(main())
