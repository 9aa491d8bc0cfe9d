"""ALFWorld: invented homes, people's games, words, lost processes; on a double, and on the engine where it is."""

from __future__ import annotations

import gzip
import importlib.util
import itertools
import json
import os
import pickle
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from bt_envs.alfworld import engine as real_engine
from bt_envs.alfworld import files, invent, pool, worker_pool
from bt_envs.alfworld.game import KINDS, TREATED, kind_of, read
from bt_envs.alfworld.suite import SUITE
from bt_envs.alfworld.worker_pool import WorkerPool
from bt_envs.alfworld.world import AlfWorld
from bt_lab.run.backend import Local
from bt_lab.run.case import Setup, Strategy, cases
from bt_runtime import BtError, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.language.project import child, packaged
from bt_runtime.language.sentence import Sentence
from bt_runtime.plugins import Wanted
from bt_runtime.testing import SUCCESS
from tests.support.alfworld_engine import DOUBLE
from tests.support.oracles import acting, expanding, goal_of, planning, ways

ALL = bool(os.environ.get("BTR_ALFWORLD"))  # every game of the data, 200 invented ones: minutes
engine = pytest.mark.alfworld
PLANNED = "version: 1\ntree: t\nskills: [alfworld]\nroot: {{plan: {{goal: '{goal}', by: backchaining}}}}\n"


@pytest.fixture(autouse=True)
def no_games(monkeypatch):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)


@pytest.fixture
def workers():
    made = WorkerPool(2, DOUBLE)
    yield made
    made.close()


@pytest.fixture
def world(workers):
    return AlfWorld(workers)


@pytest.fixture
def real():
    if importlib.util.find_spec("textworld") is None or importlib.util.find_spec("alfworld") is None:
        pytest.skip("the extra alfworld is not installed")
    yield SUITE.open
    pool.shared(2).close()


def solved(world, task) -> list[str]:
    """What the oracle did; every act of it was done."""
    world.reset(task)
    said = []
    for sentence in SUITE.oracle(world, task):
        assert world.act(sentence).ok, (task.id, sentence)
        said.append(sentence)
    return said


# Refusals ------------------------------------------------------------------------------------------


def test_what_is_wrong_is_told_in_autoplans_words_where_that_is_asked_for(workers):
    """`feedback=detailed`; without it, and of what is no command, the engine's own nothing."""
    world, terse = AlfWorld(workers, feedback="detailed"), AlfWorld(workers)
    task = next(t for t in SUITE.tasks(1, 40) if t.kind == KINDS[3])
    world.reset(task)
    terse.reset(task)
    game = read(task.data["problem"])
    thing = next(t for t in game.things if kind_of(t) == game.aim.thing)
    box = min(game.openable)
    told = {
        f"go to {kind_of(box)}": f"You miss the index of {kind_of(box)}, e.g., {kind_of(box)} 1.",
        "go to volcano 1": "volcano 1 is not a valid action in this household.",
        f"open {box}": f"You are not at {box}.",
        f"heat {thing} with fridge 1": "fridge cannot be used for heating.",
        "dance": "Nothing happens.",
        f"heat {thing}": "Nothing happens.",
    }
    for said, text in told.items():
        assert world.act(said).text == text and terse.act(said).text == "Nothing happens."
    world.act(f"go to {box}")
    assert world.act(f"put {thing} in/on {box}").text == f"{box} is closed."
    world.act(f"open {box}")
    assert world.act(f"put {thing} in/on {box}").text == f"You are not carrying {thing}."
    with pytest.raises(BtError, match="feedback is terse or detailed"):
        AlfWorld(workers, feedback="loud")


# Homes ---------------------------------------------------------------------------------------------


def test_the_same_seed_makes_the_same_homes_and_splits_share_no_goal():
    made = {split: SUITE.tasks(3, 60, split) for split in SUITE.splits}
    assert made["dev"] == SUITE.tasks(3, 60, "dev") and made["dev"] != SUITE.tasks(4, 60, "dev")
    goals = {split: {read(t.data["problem"]).aim for t in tasks} for split, tasks in made.items()}
    assert not goals["train"] & goals["dev"] and not goals["train"] & goals["eval"] and not goals["dev"] & goals["eval"]
    for tasks in made.values():
        assert {t.kind for t in tasks} == set(KINDS) and all(read(t.data["problem"]).aim.kind == t.kind for t in tasks)


def test_names_are_counted_from_the_last_id_of_each_kind():
    game = read(SUITE.tasks(0, 1, kinds=[KINDS[2]])[0].data["problem"])
    for kind in {kind_of(place) for place in game.places}:
        own = [int(place.rpartition(" ")[2]) for place in game.places if kind_of(place) == kind]
        assert own == [*range(len(own), 0, -1)]
    assert any(place == "sinkbasin 1" for place in game.places)


def test_the_oracle_wins_every_kind_of_task_and_its_parts_only_grow(world):
    for split in SUITE.splits:
        for task in SUITE.tasks(1, 12, split):
            world.reset(task)
            met = [world.verdict().met]
            for sentence in SUITE.oracle(world, task):
                assert world.act(sentence).ok, (task.goal, sentence)
                met.append(world.verdict().met)
            assert met == sorted(met) and met[0] == 0 and world.verdict() == (met[-1], met[-1]), (task.goal, met)
            assert not world.skills()


def test_all_that_a_game_offers_to_be_wanted_can_be_brought_and_be_told(world):
    """Also of a `sinkbasin 1`, whose name has an `in ` of its own; a lamp is wanted by the task that needs it alone."""
    for task in SUITE.tasks(1, 12):
        world.reset(task)
        for aim in world.aims():
            for values in itertools.product(*aim.slots.values()):
                fact = aim.fact.format(**dict(zip(aim.slots, values, strict=True)))
                assert world.holds(fact) in (True, False), fact
                assert world.ways(fact) or not world.skills(), fact


def test_a_plan_from_facts_wins_every_kind_of_game(world):
    """What the goal means is said here: the world's answers lead there, without a model."""
    for task in SUITE.tasks(1, 12):
        world.reset(task)
        aim, game = read(task.data["problem"]).aim, world._game
        things = [thing for thing in game.things if kind_of(thing) == aim.thing]
        place = next((place for place in game.places if kind_of(place) == aim.place), "")
        state = {KINDS[2]: "clean ", KINDS[3]: "hot ", KINDS[4]: "cool "}.get(aim.kind, "")
        wanted = [f"{thing} is {state}in {place}" for thing in things[: 2 if aim.kind == KINDS[5] else 1]]
        if aim.kind == KINDS[1]:
            wanted = [f"{things[0]} is lit by {next(t for t in game.things if kind_of(t) == 'desklamp')}"]
        tree = load(PLANNED.format(goal=" and ".join(wanted)))
        with Run(tree, services={"world": world}) as run:
            assert run.spin(ticks=2_000) is SUCCESS, (task.goal, wanted, run.parts.engine.root.feedback_message)
        assert world.verdict().met == world.verdict().total, task.goal


@pytest.mark.parametrize(
    ("part", "broken"),
    [
        ("groups:", "groups: 3\nx:"), ("rooms:", "rooms: {}\nx:"), ("cabinet: 2-5", "wardrobe: 1"), ("2-5", "5-2"),
        ("2-5", "x"), ("2-5", "1-99"), ("[desklamp]", "['desk {lamp}']"), ("holds: [mug]", "holds: 3"),
        ("able:", "able: []\nx:"),
    ],
)  # fmt: skip
def test_a_broken_book_of_homes_is_a_fault_in_words(tmp_path, part, broken):
    text = (packaged("envs") / "alfworld" / "homes.yaml").read_text()
    path = tmp_path / "homes.yaml"
    path.write_text(text.replace(part, broken, 1))
    with pytest.raises(BtError, match=r"homes\.yaml"):
        invent.book(path)


# Words ---------------------------------------------------------------------------------------------


def test_both_wordings_are_understood_and_each_view_has_its_own(workers):
    task = SUITE.tasks(2, 1, "dev", [KINDS[0]])[0]
    seen = {}
    for view in ("papers", "react", "engine"):
        world = AlfWorld(workers, view)
        first = world.reset(task).text
        assert first.startswith("-= Welcome") is (view == "engine") and f"Your task is to: {task.goal}." in first
        *way, put = solved(world, task)
        world.reset(task)
        texts = [world.act(sentence).text for sentence in way]
        offer = {s for s in world.skills() if s.startswith(("put", "move"))}
        move = put.replace("put", "move").replace("in/on", "to")
        assert {move if view == "engine" else put} <= offer and not ({put} if view == "engine" else {move}) & offer
        kept = world.snapshot()
        texts.append(world.act(put).text)
        world.restore(kept)
        assert world.act(f"  {move.upper()} ").text == texts[-1] and world.verdict() == (2, 2)
        seen[view] = texts
    place, last = way[0].removeprefix("go to "), put.partition(" in/on ")[2]
    assert seen["engine"][0].startswith(f"You arrive at {place}. ") and seen["papers"][0].startswith(
        "You arrive at loc "
    )
    assert seen["react"][0].startswith(("On the", "The")) and seen["papers"][-1].endswith(f" in/on the {last}.")
    with pytest.raises(BtError, match="no view"):
        AlfWorld(workers, "round")


def test_what_cannot_be_done_is_answered_and_never_raised(world):
    assert not world.act("look").ok and not world.skills() and world.verdict() == (0, 1)
    world.reset(SUITE.tasks(2, 1)[0])
    for nonsense in ("", "put", "take apple 1 from fridge 1", "fly away", "put a in/on b", "\x00", "go to" * 500):
        seen = world.act(nonsense)
        assert (seen.text, seen.ok) == ("Nothing happens.", False)
    assert world.act("think: where is it?").text == "OK."
    assert world.holds("the moon is made of cheese") is None and world.holds("nothing") is None
    assert world.act("look").ok
    with pytest.raises(BtError, match="no such shelf"):
        world.act("examine shelf 99")  # the double raises
    with pytest.raises(BtError, match="none of ALFWorld"):
        world.reset(SUITE.tasks(2, 1)[0]._replace(data={}))


def test_the_manifest_says_every_sentence_that_is_offered_and_what_it_needs_and_brings(world):
    found = yaml.safe_load((packaged("skills") / "alfworld.yaml").read_text())["kinds"]
    kinds = {
        key: Sentence(k["sentence"], {name: p["type"] for name, p in k["params"].items()}) for key, k in found.items()
    }
    judged = 0
    for task in SUITE.tasks(6, 12):
        world.reset(task)
        for said in SUITE.oracle(world, task):
            for offered in {said, *world.skills()}:
                assert len([key for key, s in kinds.items() if s.parse(offered) is not None]) == 1, offered
            key, slots = next((k, got) for k, s in kinds.items() if (got := s.parse(said)) is not None)
            assert all(world.holds(Sentence(fact).say(slots)) for fact in found[key]["needs"]), said
            assert world.act(said).ok
            for fact in found[key]["brings"]:
                assert world.holds(Sentence(fact).say(slots)), (said, fact)
                judged += 1
    assert judged > 60


def test_no_game_brings_signs_that_the_engine_would_evaluate(world):
    """TextWorld's grammar evaluates Python that stands in braces: of a game's own text none reaches it."""
    task = SUITE.tasks(2, 1)[0]
    problem = task.data["problem"]
    goal = "put {__import__('os').getpid()} on [x|y] #look# \\n \""
    world.reset(task._replace(data={"problem": problem, "goal": goal}))
    assert not set('{}[]|#\\"') & set(world._asked(None)["goal"])
    for place in ("(:init", "(:goal", "- otype"):
        with pytest.raises(BtError, match="signs"):
            world.reset(task._replace(data={"problem": problem.replace(place, f"{{1}}{place}", 1), "goal": "g"}))


# Processes -----------------------------------------------------------------------------------------


def test_a_killed_worker_loses_its_episode_says_so_and_no_other(workers):
    ours, other = AlfWorld(workers), AlfWorld(workers)
    task, another = SUITE.tasks(4, 2)
    ours.reset(task)
    other.reset(another)
    way, theirs = SUITE.oracle(ours, task), SUITE.oracle(other, another)
    assert ours.act(next(way)).ok and other.act(next(theirs)).ok
    (own,) = [w for w in workers.workers if w.owner is ours._owner]
    os.kill(own.process.pid, signal.SIGKILL)
    for _ in range(2):  # it stays lost
        with pytest.raises(BtError, match="the episode is lost") as caught:
            ours.act(next(way))
    assert "reset" in caught.value.hint
    assert all(other.act(said).ok for said in theirs) and other.verdict().met == other.verdict().total
    solved(ours, task)
    assert ours.verdict().met == ours.verdict().total


def test_an_agent_whose_worker_was_killed_ends_by_a_crash_and_not_by_giving_up(workers):
    task = SUITE.tasks(4, 1)[0]
    world = AlfWorld(workers)
    world.reset(task)
    said = []

    def line(question):
        said.append(1)
        if len(said) == 3:
            os.kill(workers.workers[0].process.pid, signal.SIGKILL)
        return f"Act: {next(s for s in world.skills() if s.startswith('go to'))}" if len(said) < 6 else "Act: failure"

    services = {"model": ScriptedModel(line)}
    with Run(load("react"), inputs={"goal": task.goal}, world=world, services=services, recall=False) as run:
        run.spin(seconds=60)
        assert any("the episode is lost" in crash.message for crash in run.parts.context.crashes)


def test_an_evaluation_counts_an_episode_whose_worker_was_killed_as_broken_and_goes_on(workers, monkeypatch):
    """`kill -9` amid an episode: that one says so and has an error, which is no failure; the others are won."""
    monkeypatch.setattr(pool, "shared", lambda bound: workers)
    tasks = SUITE.tasks(4, 3)
    known, lost = ways(tasks, "alfworld"), tasks[1].goal
    assert len({task.goal for task in tasks}) == 3

    def line(question):
        goal = goal_of(question.prompt)
        done = question.prompt.rpartition(goal)[2].count("Act: ")
        if goal == lost and done == 1:
            for worker in workers.workers:
                if worker.owner is not None:
                    os.kill(worker.process.pid, signal.SIGKILL)
                    worker.process.wait()
        return f"Act: {known[goal][done]}"

    backend = Local({"default": ScriptedModel(line)}, 1)
    found = list(backend.outcomes(Setup("alfworld"), cases([Strategy("react", "react")], tasks)))
    assert [(o.goal, o.success) for o in found] == [(task.goal, task.goal != lost) for task in tasks]
    assert [bool(o.error) for o in found] == [False, True, False] and "the episode is lost" in found[1].error


def test_a_worker_that_hangs_is_ended_after_its_deadline(workers, monkeypatch):
    world = AlfWorld(workers)
    world.reset(task := SUITE.tasks(4, 1)[0])
    way = SUITE.oracle(world, task)
    assert world.act(next(way)).ok
    monkeypatch.setattr(worker_pool, "LOADING", 0.1)
    monkeypatch.setattr(worker_pool, "STEP", 0.1)
    process = workers.workers[0].process
    os.kill(process.pid, signal.SIGSTOP)
    with pytest.raises(BtError, match="did not answer within"):
        world.act(next(way))
    assert process.returncode == -signal.SIGKILL and not workers.workers[0].folder.exists()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells of a process's end without asking again")
def test_no_worker_outlives_the_process_that_started_it():
    code = (
        "import sys, signal\nfrom bt_envs.alfworld.worker_pool import Plays, WorkerPool\n"
        "pool = WorkerPool(1, Plays('ALFWorld', sys.argv[1:]))\n"
        "pool.begin(pool, {'problem': '', 'goal': '', 'done': [], 'act': None})\n"
        "print(pool.workers[0].process.pid, flush=True)\nsignal.pause()\n"
    )
    words = [sys.executable, "-P", "-c", code, *DOUBLE.words]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=child.environment()) as parent:
        assert parent.stdout is not None
        end = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
        assert select.select([end], [], [], 60)[0], "the worker lives on"
        os.close(end)


def test_more_worlds_than_workers_take_turns_and_each_keeps_its_place(workers):
    tasks = SUITE.tasks(9, 5)
    worlds = [AlfWorld(workers) for _ in tasks]
    for world, task in zip(worlds, tasks, strict=True):
        world.reset(task)
    ways = [SUITE.oracle(world, task) for world, task in zip(worlds, tasks, strict=True)]
    while any(world.verdict().met < world.verdict().total for world in worlds):
        for world, way in zip(worlds, ways, strict=True):
            said = next(way, None)
            assert said is None or world.act(said).ok
            assert len(workers.workers) <= 2


def test_restoring_asks_no_engine_and_the_next_act_goes_on_from_there(workers):
    world = AlfWorld(workers)
    task = SUITE.tasks(8, 1)[0]
    *way, last = solved(world, task)
    kept = []
    world.reset(task)
    for said in way:
        kept.append((world.snapshot(), world.digest(), world.look().text, list(world.skills())))
        world.act(said)
    workers.close()
    for (snapshot, digest, text, offer), said in zip(reversed(kept), reversed(way), strict=True):
        world.restore(snapshot)
        assert (world.digest(), world.look().text, list(world.skills())) == (digest, text, offer)
        assert said in offer and not workers.workers
    for said in (*way, last):
        assert world.act(said).ok
    assert world.verdict().met == world.verdict().total
    for bad in (b"", b"[]", b"{}", b'{"task": 1, "done": [], "now": {}}'):
        with pytest.raises(BtError, match="no snapshot"):
            world.restore(bad)


def test_without_the_extra_tasks_are_made_and_the_world_says_what_to_install(monkeypatch):
    pool.shared.cache_clear()
    monkeypatch.setattr("bt_runtime.language.faults.extra.find_spec", lambda name: None)
    assert SUITE.tasks(0, 1)
    with pytest.raises(BtError, match="alfworld") as caught:
        SUITE.open()
    assert "bt_runtime[alfworld]" in caught.value.hint
    with pytest.raises(BtError, match="a number of processes"):
        SUITE.open(workers="many")


# Files ---------------------------------------------------------------------------------------------


def folder_of_games(place: Path) -> Path:
    """As ALFWorld makes them, with what it leaves out."""
    grammar = '"task": [{"rhs": "Your task is to: put two cd in safe."}]'
    problem = SUITE.tasks(0, 1, kinds=[KINDS[5]])[0].data["problem"]
    for name, more in (("a/trial_1", {}), ("b/trial_2", {"solvable": False}), ("c-movable_receptacle/trial_3", {})):
        (place / name).mkdir(parents=True)
        game = {"pddl_domain": "", "grammar": grammar, "pddl_problem": problem, "solvable": True, **more}
        (place / name / files.GAME).write_text(json.dumps(game))
    return place


def test_games_are_read_from_a_folder_and_from_lines_and_told_by_what_is_in_them(tmp_path, world, monkeypatch):
    place = folder_of_games(tmp_path / "data")
    found = SUITE.read(place, Wanted())
    assert found is not None
    (task,) = found.tasks
    assert (task.id, task.kind, task.goal) == ("a/trial_1", KINDS[5], "put two cd in safe")
    solved(world, task)
    lines = tmp_path / "mine.jsonl.gz"
    rows = [{"path": f"{i}", "goal": "g", "pddl_problem": task.data["problem"]} for i in range(20)]
    with gzip.open(lines, "wt") as file:
        file.write("\n".join(json.dumps(row) for row in rows))
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    assert [t.id for t in SUITE.tasks(0, 9, part="all")] == ["data/a/trial_1"]
    assert [t.id for t in SUITE.tasks(0, 1, source="made")] == ["alfworld-train-0-0000"]
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "nothing"))
    assert [t.id for t in SUITE.tasks(0, 1)] == ["alfworld-train-0-0000"]
    read_lines = SUITE.read(lines, Wanted(episodes=99))
    assert read_lines is not None and len(read_lines.tasks) == 20
    shares = [{t.id for t in SUITE.tasks(0, 99, split, data=lines)} for split in SUITE.splits]
    assert sum(map(len, shares)) == len(set().union(*shares)) == 20
    lines.rename(tmp_path / "games_mine.jsonl.gz")
    ready = SUITE.read(tmp_path, Wanted(episodes=99, data=""))
    assert ready is not None and len(ready.tasks) == 1  # folders of games come first
    (tmp_path / "data" / "a" / "trial_1" / files.GAME).rename(kept := tmp_path / files.GAME.upper())
    for game in (tmp_path / "data").rglob(files.GAME):
        game.unlink()
    ready = SUITE.read(tmp_path, Wanted(episodes=99))
    assert ready is not None and len(ready.tasks) == 20
    (tmp_path / "data" / "a" / "trial_1").mkdir(exist_ok=True)
    kept.rename(tmp_path / "data" / "a" / "trial_1" / files.GAME)
    (tmp_path / "other.jsonl").write_text('{"question": "?"}\n')
    assert SUITE.read(tmp_path / "other.jsonl", Wanted()) is None
    assert SUITE.read(tmp_path / "data" / "a" / "trial_1" / files.GAME, Wanted()) is not None


@pytest.mark.parametrize(
    "broken",
    ["", "[]", "{}", '{"pddl_problem": 1, "goal": "g"}', '{"pddl_problem": "(:init (a b)) (:goal (x))", "goal": "g"}'],
)
def test_a_broken_game_is_named(tmp_path, broken):
    (tmp_path / files.GAME).write_text(broken)
    with pytest.raises(BtError):
        SUITE.tasks(0, 1, data=tmp_path, part="all")
    with pytest.raises(BtError, match="no games"):
        SUITE.tasks(0, 1, data=tmp_path / "nowhere")


@pytest.mark.data
def test_alfreds_tasks_become_games_that_the_oracle_wins(world, data):
    """Every task of each type that ALFWorld plays, none with slices, movable receptacles or floor lamps."""
    tasks = SUITE.tasks(0, 40, "eval", data=data, source="alfred")
    assert len(tasks) == 40 and {task.kind for task in tasks} == {*KINDS}
    for task in tasks:
        solved(world, task)
        assert world.verdict().met == world.verdict().total, task.id
    with pytest.raises(BtError, match="no split"):
        SUITE.tasks(0, 1, "dev", data=data, source="alfred")
    with pytest.raises(BtError, match="not from"):
        SUITE.tasks(0, 1, source="alfred")


@pytest.mark.data
def test_what_alfreds_tasks_heat_cool_or_clean_can_be_treated_so_in_the_game(data):
    """The engine cannot load a game whose goal no fact allows: a wine bottle to be cooled that is not coolable."""
    for task in SUITE.tasks(36, 100, "eval", data=data, source="alfred"):
        aim, problem = read(task.data["problem"]).aim, task.data["problem"].lower()
        if treatment := TREATED.get(aim.kind):
            assert f"({treatment.able} {aim.thing}_bar" in problem, task.id


@engine
@pytest.mark.data
def test_a_game_made_from_alfreds_task_is_won_on_the_engine(real, data):
    (task,) = SUITE.tasks(0, 1, "eval", [KINDS[1]], data=data, source="alfred")
    world = real()
    solved(world, task)
    assert world.verdict() == (2, 2)


class Loaded:
    """A game that the engine has loaded; `plays` are the commands that it went through."""

    all: ClassVar[list[Loaded]] = []

    def __init__(self, of: tuple[str, str], told: object) -> None:
        self.of, self.done, self.plays = of, [], 0
        self.all.append(self)

    def play(self, done: Sequence[str], act: str | None) -> dict[str, Any]:
        begun = len(self.done) if self.done == list(done[: len(self.done)]) else 0
        self.done = [*done, *([act] if act is not None else [])]
        self.plays += len(self.done) - begun
        return {"state": list(self.done)}


def test_agents_that_play_one_game_in_turn_by_acts_of_their_own_do_not_begin_it_anew(monkeypatch):
    """Four agents in an engine's process: four games are loaded, each act is done once, and a fault leaves its game."""
    monkeypatch.setattr(real_engine, "LoadedGame", Loaded)
    monkeypatch.setattr(Loaded, "all", [])
    played = object.__new__(real_engine.Engine)
    played.domain, played.grammar, played.games, played.game = "", "", [], None
    states: list[list[str]] = [[], [], [], []]
    for n in range(6):
        for who, state in enumerate(states):
            said = played.play("p", "g", state, f"act {n} of {who}")
            state.append(f"act {n} of {who}")
            assert said == {"state": state}
    assert [game.plays for game in Loaded.all] == [6, 6, 6, 6]
    for n in range(2 * real_engine.KEPT):
        played.play(f"other {n}", "g", [], None)
    assert len(played.games) == real_engine.KEPT
    played.game = None  # as after a fault
    played.play("p", "g", [], None)
    assert len(played.games) == real_engine.KEPT and played.games[-1].of == ("p", "g")


# The engine ----------------------------------------------------------------------------------------


@engine
def test_the_oracle_wins_invented_games_on_the_engine_and_the_start_is_foretold(real):
    """What a world tells before its game is loaded is what the engine says then."""
    world = real()
    counts = {"train": 100, "dev": 50, "eval": 50} if ALL else dict.fromkeys(SUITE.splits, 2)
    for task in [task for split, count in counts.items() for task in SUITE.tasks(5, count, split)]:
        world.reset(task)
        assert world._played(None) == world._now
        solved(world, task)
        assert world.verdict().met == world.verdict().total, task
    world.close()


@engine
@pytest.mark.parametrize(("tree", "script"), [("react", acting), ("reactree", expanding), ("adapt", planning)])
def test_agents_win_on_the_engine_through_their_grafts(real, tree, script):
    world, (task,) = real(), SUITE.tasks(5, 1, "eval", [KINDS[1]])
    way = solved(world, task)
    world.reset(task)
    services = {"model": ScriptedModel(script(way, task.goal) if script is planning else script(way))}
    with Run(load(tree), inputs={"goal": task.goal}, world=world, services=services, recall=False) as run:
        assert run.spin(seconds=300) is SUCCESS
    assert world.verdict() == (2, 2)


@engine
def test_a_world_of_the_engine_is_pickled_with_its_place(real):
    world, (task,) = real(), SUITE.tasks(5, 1, "dev", [KINDS[0]])
    *way, last = solved(world, task)
    world.reset(task)
    for said in way:
        world.act(said)
    other = pickle.loads(pickle.dumps(world))
    assert other.digest() == world.digest() and other.act(last).ok and other.verdict() == (2, 2)
    assert world.verdict().met == 1 and world.act(last).ok


@engine
@pytest.mark.data
def test_the_transcripts_replay_word_for_word(real, data):
    """60 games of the real engine, ten of each task type; one of each unless BTR_ALFWORLD asks for all."""
    world, left = real(view="engine"), dict.fromkeys(KINDS, 10 if ALL else 1)
    for name in files.names(data / "alfworld"):
        task = files.task(name)
        assert task is not None and name.row is not None and task.kind == name.row["task_type"]
        if not left[task.kind]:
            continue
        left[task.kind] -= 1
        said, told = zip(*name.row["transcript"], strict=True)
        assert (world.reset(task).text, *(world.act(each).text for each in said[1:])) == told, task.id
        assert world.verdict().met == world.verdict().total
        solved(world, task)
        assert world.verdict().met == world.verdict().total
    assert not any(left.values())
