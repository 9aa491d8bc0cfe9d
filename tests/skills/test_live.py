"""A running skill says how it stands, writes its outputs, and sees the inputs that it follows."""

from __future__ import annotations

import threading

import pytest

from bt_runtime import BtError, Faults, Run, Skill, Status, load, skill
from bt_runtime.clock import Manual
from bt_runtime.events import Feedback, Notice, Tick, Written
from bt_runtime.journal import Recording, replay

SUCCESS, FAILURE, RUNNING = Status.SUCCESS, Status.FAILURE, Status.RUNNING


def tree(root: str, *skills, header: str = ""):
    return load(f"version: 1\ntree: t\n{header}\nroot:\n  {root}\n", skills=skills)


@skill("drive {far}", outputs={"left": int, "error": int}, on_resume="repeat")
class Drive(Skill):
    """Tells at each step how far it is yet; below zero it has failed, with an error."""

    def start(self, far: int) -> None:
        self.left, self.to = far, 0 if far < 5 else 3

    def poll(self) -> Status:
        self.left -= 1
        self.feedback = f"{self.left} m to go"
        self.result = {"left": self.left}
        if self.left > self.to:
            return RUNNING
        if self.to:
            self.result = {"left": self.left, "error": 7}
            return FAILURE
        return SUCCESS


ROOT = 'drive: {far: 3, left: "{left}", error: "{error}"}'


def test_feedback_is_shown_and_told_while_the_skill_runs():
    heard = []
    with Run(tree(ROOT, Drive), clock=Manual()) as run:
        run.listen(heard.append, Feedback)
        assert run.tick().running
        assert run.parts.engine.root.feedback_message == "2 m to go"
        assert run.spin() is SUCCESS
    assert heard == [("/t", "2 m to go"), ("/t", "1 m to go")]


def test_outputs_are_written_while_it_runs_and_when_it_fails():
    with Run(tree(ROOT.replace("3", "6"), Drive), clock=Manual()) as run:
        assert run.tick().running
        assert run.blackboard["left"] == 5
        assert run.spin() is FAILURE
        assert (run.blackboard["left"], run.blackboard["error"]) == (3, 7)


def test_what_an_earlier_start_has_found_is_not_written_when_a_later_one_fails():
    starts = []

    @skill(outputs={"found": str})
    class Look(Skill):
        def start(self) -> None:
            starts.append(1)

        def poll(self) -> Status:
            if len(starts) == 1:
                self.result = "cup"
                return SUCCESS
            return FAILURE

    root = 'sequence: [{look: {found: "{a}", name: one}}, set: {a: gone}]'
    with Run(tree(f"repeat: {{times: 2, child: {{{root}}}}}", Look), clock=Manual()) as run:
        assert run.spin() is FAILURE
        assert run.blackboard["a"] == "gone"


def test_a_function_may_fail_with_outputs_and_a_generator_may_give_them_at_each_step():
    @skill(outputs={"code": int})
    def fails():
        return FAILURE, {"code": 4}

    @skill(outputs={"at": int})
    def steps(n: int):
        for i in range(n):
            yield {"at": i}
            yield f"step {i}"

    with Run(tree('fails: {code: "{code}"}', fails)) as run:
        assert run.spin(seconds=60) is FAILURE
        assert run.blackboard["code"] == 4
    with Run(tree('steps: {n: 2, at: "{at}"}', steps), clock=Manual()) as run:
        seen = []
        while run.tick().running:
            seen.append((run.blackboard["at"], run.parts.engine.root.feedback_message))
        assert seen == [(0, "steps 2"), (0, "step 0"), (1, "step 0"), (1, "step 1")]


def test_an_output_of_another_type_is_a_crash_and_nothing_of_it_is_written():
    @skill(outputs={"x": float, "name_of": str})
    def where():
        yield
        return {"x": 1.0, "name_of": 3}

    with Run(tree('where: {x: "{x}", name_of: "{n}"}', where), clock=Manual()) as run:
        run.tick()
        tick = run.tick()
        assert tick.status is FAILURE
        assert tick.crashes[0].message == "`name_of` takes a string, not an integer: 3"
        assert "x" not in run.blackboard


def test_outputs_that_cannot_be_named_or_typed_are_told_at_once():
    with pytest.raises(BtError, match="is one of its parameters"):
        tree("succeed: {}", skill(name="f", outputs={"x": int})(lambda x: x))
    with pytest.raises(BtError, match="has no type of a tree"):
        tree("succeed: {}", skill(name="f", outputs={"x": complex})(lambda: 1))
    with pytest.raises(Faults, match="no field `y`"):
        tree('f: {y: "{y}"}', skill(name="f", outputs={"x": int})(lambda: 1))


def test_a_running_skill_sees_the_inputs_that_it_follows_and_no_others():
    seen = []

    @skill("aim at {pose} with {speed}", follow=["pose"])
    class Aim(Skill):
        def start(self, pose: int, speed: int) -> None:
            self.pose, self.speed = pose, speed

        def poll(self) -> Status:
            seen.append((self.pose, self.speed))
            return RUNNING

    @skill(follow=["pose"])
    def sweep(pose: int):
        while True:
            values = yield
            if values:
                seen.append(values)

    header = "blackboard: {p: {type: any, default: 1}, s: {type: integer, default: 5}}"
    root = 'parallel: [aim: {pose: "{p}", speed: "{s}"}, sweep: "{p}"]'
    with Run(tree(root, Aim, sweep, header=header), clock=Manual()) as run:
        run.tick()
        run.tick()
        run.blackboard.update(p=2, s=6)
        run.tick()
        run.tick()
        assert seen == [(1, 5), (1, 5), (2, 5), {"pose": 2}, (2, 5)]
        run.blackboard["p"] = "far"
        tick = run.tick()
    assert "`pose` takes an integer" in tick.crashes[0].message


def test_a_parameter_to_follow_that_is_none_is_told():
    with pytest.raises(BtError, match="follow `posse`"):
        tree("succeed: {}", skill(follow=["posse"])(Drive.start))


def test_a_recorded_run_with_live_outputs_comes_again(tmp_path):
    with Run(tree(ROOT, Drive), clock=Manual(), journal=tmp_path) as run:
        run.spin()
        path = run.parts.journal.path
    found = replay(path)
    assert found.same, found
    kinds = [e.kind for e in Recording(path).events]
    assert kinds.count("news") == 2


def test_a_tick_tells_what_a_running_skill_says_so_that_the_page_and_the_journal_show_it():
    said = []
    with Run(tree(ROOT, Drive), clock=Manual()) as run:
        run.listen(lambda tick: said.extend(text for _, text in tick.said), Tick)
        run.tick()
        run.tick()
    assert said[:2] == ["2 m to go", "1 m to go"]


# Several entries at once ------------------------------------------------------------------------------


def test_no_tick_sees_a_part_of_what_was_written_at_once():
    header = "blackboard: {x: {type: integer, default: 0}, y: {type: integer, default: 0}}"
    torn, over = [], threading.Event()
    with Run(tree("repeat: {times: -1, child: {check: x == y}}", header=header), clock=Manual()) as run:

        def write():
            for n in range(2000):
                run.blackboard.update(x=n, y=n)
            over.set()

        def look(tick):
            if tick.status is FAILURE:
                torn.append(tick.number)

        run.listen(look, Tick)
        thread = threading.Thread(target=write)
        thread.start()
        while not over.is_set():
            run.tick()
        thread.join(30)
    assert torn == []


def test_when_one_of_several_may_not_be_written_none_is():
    header = "blackboard: {x: {type: integer, default: 0}, y: {type: integer, default: 0}}"
    with Run(tree("succeed: {}", header=header)) as run:
        heard = []
        run.listen(heard.append, Written)
        with pytest.raises(BtError, match="`y` takes an integer"):
            run.blackboard.update(x=1, y="one")
        assert (run.blackboard["x"], heard) == (0, [])


def test_who_writes_a_value_that_does_not_fit_is_told_so_inside_a_tick_of_another_thread_too():
    header = "blackboard: {x: {type: integer, default: 0}}"
    told = []

    @skill(condition=True)
    def meanwhile():
        def write():
            try:
                run.blackboard["x"] = "one"
            except BtError as error:
                told.append(error.message)

        thread = threading.Thread(target=write)
        thread.start()
        thread.join(30)
        return True

    with Run(tree("meanwhile: {}", meanwhile, header=header)) as run:
        assert run.tick().crashes == []
    assert told == ["`x` takes an integer, not a string: 'one'"]


def test_the_blackboard_is_a_mapping():
    header = "blackboard: {x: {type: integer, default: 0}}\ninputs: {place: {type: string, default: hall}}"
    with Run(tree("succeed: {}", header=header)) as run:
        board = run.blackboard
        assert dict(board) == {"place": "hall", "x": 0}
        assert (len(board), list(board), sorted(board.items())) == (2, ["place", "x"], [("place", "hall"), ("x", 0)])
        assert list(board.values()) == ["hall", 0]
        board.update({"x": 1}, y=2)
        board.update("x", lambda n: n + 1)
        assert dict(board) == {"place": "hall", "x": 2, "y": 2}
        assert not {"write", "setdefault", "pop"} & {*dir(board)}  # there is one way for each write
        assert board != {} and hash(board)


def test_a_skill_that_is_called_like_a_built_in_kind_or_another_is_told():
    @skill
    def wait(seconds: float): ...

    with pytest.raises(BtError, match="a skill is called `wait`, as a kind of node is"):
        tree("wait: 1", wait)
    with pytest.raises(BtError, match="a skill is called `drive`, as another one is"):
        tree("succeed: {}", Drive, Drive)


@pytest.mark.parametrize("instant", [False, True])
@pytest.mark.parametrize("gives, told", [
    (None, "gave none of its outputs: `left`"), ({}, "gave none of its outputs: `left`"),
    ({"left": 1, "lft": 2}, "gave `lft`, which is none of its outputs"),
    ({"left": 1, "error": 2}, ""), ({"error": 2}, "gave none of its outputs: `left`"), (3, ""),
    ((FAILURE, None), ""),
])  # fmt: skip
def test_missing_and_unknown_outputs_are_told_once_a_node(gives: object, told: str, instant: bool) -> None:
    @skill("look", outputs={"left": int, "error": int}, instant=instant)
    def look() -> object:
        return gives

    root = "repeat: {times: 3, child: {force: {status: success, child: {look: {left: '{n}'}}}}}"
    notices: list[str] = []
    with Run(tree(root, look), slow=None) as run:
        run.listen(lambda notice: notices.append(notice.text), Notice)
        run.spin(seconds=60)
    assert len(notices) == bool(told) and told in "".join(notices)
