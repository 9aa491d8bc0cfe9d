"""Python sources in the shapes in which people publish trees of py_trees. All are made up for these tests."""

from __future__ import annotations

from pathlib import Path

HEAD = "import operator\nimport py_trees\n"

FILES: dict[str, dict[str, str]] = {}

FILES["topics"] = {
    "topics.py": '''
import py_trees
import py_trees_ros
import rclpy
import sensor_msgs.msg as sensor_msgs


def low_battery(blackboard: py_trees.blackboard.Client) -> bool:
    return blackboard.battery.percentage < 20.0


def create_root(patience: float = 3.0) -> py_trees.behaviour.Behaviour:
    """The data come first, the work second."""
    root = py_trees.composites.Parallel(
        name="Night Watch",
        policy=py_trees.common.ParallelPolicy.SuccessOnAll(synchronise=False),
    )
    data = py_trees.composites.Sequence("Data", memory=True)
    battery = py_trees_ros.battery.ToBlackboard(
        name="Battery", topic_name="/battery", qos_profile=py_trees_ros.utilities.qos_profile_unlatched(), threshold=20.
    )
    lidar = py_trees_ros.subscribers.ToBlackboard(
        name="Lidar", topic_name="/scan", topic_type=sensor_msgs.LaserScan, blackboard_variables={"scan": None}
    )
    work = py_trees.composites.Selector("Work", memory=False)
    rescue = py_trees.decorators.EternalGuard(
        name="Battery Low?", condition=low_battery, blackboard_keys={"battery"},
        child=py_trees.timers.Timer("Wait for rescue", duration=patience),
    )
    root.add_child(data)
    data.add_children([battery, lidar])
    root.add_child(work)
    work.add_children([rescue, py_trees.behaviours.Running("Idle")])
    return root


def main():
    rclpy.init(args=None)
    tree = py_trees_ros.trees.BehaviourTree(root=create_root(), unicode_tree_debug=True)
    try:
        tree.setup(timeout=15.0)
    except py_trees_ros.exceptions.TimedOutError as error:
        print(error)
    rclpy.spin(tree.node)


if __name__ == "__main__":
    main()
'''
}

FILES["patrol"] = {
    "patrol.py": '''
import py_trees as pt
from py_trees.common import Status

PLACES = [
    {"name": "gate", "x": 1, "y": 2.5},
    {"name": "yard", "x": -3.0, "y": 0.0},
    {"name": "shed", "x": 4.25, "y": 8.0},
]


class DriveTo(pt.behaviour.Behaviour):
    """Drives to a point of the map.

    It gives up when the way is blocked.
    """

    def __init__(self, name: str, x: float, y: float, speed: float = 0.5):
        super().__init__(name)
        self.x, self.y, self.speed = x, y, speed
        self.blackboard = self.attach_blackboard_client(name="drive", namespace="base")
        self.blackboard.register_key(key="pose", access=pt.common.Access.READ)
        self.blackboard.register_key("/odometer", access=pt.common.Access.WRITE)

    def update(self) -> Status:
        return Status.RUNNING


class Beep(pt.behaviour.Behaviour):
    def setup(self, **kwargs):
        self.board = pt.blackboard.Client(name="beep")
        self.board.register_key(key="volume", access=pt.common.Access.READ)

    def update(self):
        return Status.SUCCESS


def leg(place, tries=3):
    drive = DriveTo(f"drive to {place['name']}", place["x"], y=place["y"])
    return pt.decorators.Retry(name="again " + place["name"], child=drive, num_failures=tries)


def create_patrol():
    root = pt.composites.Sequence(name="patrol", memory=True)
    for number, place in enumerate(PLACES):
        if number > 0:
            root.add_child(Beep(name=f"beep {number}"))
        root.add_child(leg(place))
    root.add_children([pt.timers.Timer(name=f"rest {n}", duration=n * 0.5) for n in range(1, 4) if n != 2])
    root.insert_child(pt.behaviours.Success(name="first"), 0)
    root.prepend_child(pt.behaviours.Success(name="before all"))
    return pt.decorators.Timeout(name="hurry", child=root, duration=60 * 10)


tree = pt.trees.BehaviourTree(create_patrol())
'''
}

FILES["bringup"] = {
    "bringup.py": """
import py_trees as pt
import py_trees_ros as ptr
import rclpy


class Charge(pt.behaviour.Behaviour):
    def __init__(self):
        super(Charge, self).__init__("charge")

    def update(self):
        return pt.common.Status.RUNNING


class Brain(ptr.trees.BehaviourTree):
    def __init__(self):
        charge = pt.composites.Sequence(name="charging", children=[pt.behaviours.Failure("is it empty"), Charge()])
        play = pt.decorators.FailureIsSuccess(pt.behaviours.Failure("play"), name="play at least")
        self.root = pt.composites.Selector(name="brain", memory=False)
        self.root.add_children([charge, play])
        super(Brain, self).__init__(root=self.root, unicode_tree_debug=True)
        self.setup(timeout=30)


def main(args=None):
    rclpy.init(args=args)
    brain = Brain()
    while rclpy.ok():
        rclpy.spin_once(brain.node)
"""
}

FILES["scenario"] = {
    "scenario.py": '''
import py_trees
from simulator.atomics import ActorFlee, DriveDistance, IdleUntil
from simulator.base import BasicScenario


class CutIn(BasicScenario):
    """Another car cuts in."""

    timeout = 60

    def __init__(self, world, ego_vehicles, config, randomize=False):
        self._distance = 12
        self._speed = config.speed
        super(CutIn, self).__init__("CutIn", ego_vehicles, config, world)

    def _create_behavior(self):
        root = py_trees.composites.Parallel(
            "cut in", policy=py_trees.common.ParallelPolicy.SUCCESS_ON_ONE)
        flee = py_trees.composites.Sequence("flee")
        flee.add_child(IdleUntil(self.ego_vehicles[0], self._distance, name="near enough"))
        flee.add_child(ActorFlee(self.ego_vehicles[0], self._speed, name="away"))
        root.add_child(flee)
        root.add_child(DriveDistance(self.ego_vehicles[0], 2 * self._distance, name="far"))
        return root

    def _create_test_criteria(self):
        return []
'''
}

FILES["arm"] = {
    "arm/__init__.py": "",
    "arm/leaves.py": '''
import py_trees


class Grip(py_trees.behaviour.Behaviour):
    """Closes the gripper."""

    def __init__(self, name="grip", force: int = 10, side: str = "left"):
        super().__init__(name=name)

    def update(self):
        return py_trees.common.Status.SUCCESS
''',
    "arm/parts/__init__.py": "from .grasp import grasp\n",
    "arm/parts/grasp.py": """
from py_trees.composites import Selector, Sequence
from py_trees.decorators import Inverter

from ..leaves import Grip
from .. import settings


def grasp(thing, side="left"):
    checks = Inverter(name=f"{thing} not held", child=Grip(name=f"feel {thing}", force=1, side=side))
    work = Sequence(name=f"take {thing}", memory=True, children=[checks, Grip(f"grip {thing}", settings.FORCE)])
    return Selector(name=f"grasp {thing}", memory=True, children=[work])
""",
    "arm/settings.py": "FORCE = 4 * 5\nTHINGS = ('cup', 'plate')\n",
    "arm/main.py": """
import py_trees
from arm.parts import grasp
from arm import settings


def build(things):
    root = py_trees.composites.Sequence(name="set the table", memory=True)
    for thing in things:
        root.add_child(grasp(thing))
    return root


if __name__ == "__main__":
    py_trees.trees.BehaviourTree(build(settings.THINGS)).tick_tock(100)
""",
}

FILES["dispatch"] = {
    "dispatch.py": """
import argparse
import random
import sys

import py_trees
from warehouse import orders, shelf_behaviour


def create_root(args):
    root = py_trees.composites.Sequence("dispatch", memory=True)
    root.add_child(py_trees.behaviours.Success("begin"))
    if args.verbose:
        root.add_child(py_trees.behaviours.Success("speak"))
    for order in orders():
        root.add_child(shelf_behaviour(order))
    root.add_child(py_trees.timers.Timer("rest", duration=random.random()))
    root.add_child(shelf_behaviour("A1", level=2))
    memory = sys.argv[1] == "keep"
    root.add_child(py_trees.composites.Selector("either", memory=memory, children=[
        py_trees.behaviours.Failure("one"), py_trees.behaviours.Success("two")]))
    while len(root.children) < random.randint(1, 9):
        root.add_child(py_trees.behaviours.Success("more"))
    root.add_child(py_trees.behaviours.Success("end"))
    return root


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if not args.verbose:
        sys.exit(1)
    py_trees.trees.BehaviourTree(create_root(args)).tick()


if __name__ == "__main__":
    main()
"""
}

FILES["builder"] = {
    "builder.py": """
from dataclasses import dataclass

import py_trees
from py_trees.behaviours import Failure, Running, Success


@dataclass
class Settings:
    tries: int = 2
    label: str = "job"


class TreeBuilder:
    KINDS = {"good": Success, "bad": Failure}

    def __init__(self, settings: Settings):
        self.settings = settings
        self.parts = []

    @property
    def title(self):
        return self.settings.label.upper()

    @staticmethod
    def sequence(name, *children):
        return py_trees.composites.Sequence(name=name, memory=True, children=list(children))

    def add(self, sort, name):
        self.parts.append(self.KINDS[sort](name=name))
        return self

    def build(self):
        self.add("good", "a").add("bad", "b")
        tried = py_trees.decorators.Retry("tried", self.sequence(self.title, *self.parts), self.settings.tries)
        root = py_trees.composites.Selector("root", False)
        root.add_children((tried, Running(name="wait")))
        return root, self.parts


def create_tree():
    root, _ = TreeBuilder(Settings(tries=3, label="pick")).build()
    return root
"""
}

FILES["library"] = {
    "library.py": '''
import py_trees


class Approach(py_trees.composites.Sequence):
    """Comes near."""

    def __init__(self, target, steps=2, **kwargs):
        super().__init__(name=f"approach {target}", memory=True, **kwargs)
        for step in range(steps):
            name = f"step {step} to {target}"
            self.add_child(py_trees.behaviours.TickCounter(name, 1, py_trees.common.Status.SUCCESS))


class Careful(Approach):
    def __init__(self, target):
        super().__init__(target, steps=1)
        self.prepend_child(py_trees.behaviours.Success(name=f"look at {target}"))


class Stubborn(py_trees.decorators.Retry):
    def __init__(self, child):
        super().__init__(name="stubborn", child=child, num_failures=5)


class Odd(py_trees.composites.Selector):
    def tick(self):
        yield self


def create_root():
    root = py_trees.composites.Sequence("all", memory=False)
    root.add_children([Approach("door"), Stubborn(Careful("cup"))])
    odd = Odd("odd", memory=False)
    odd.add_child(py_trees.behaviours.Success("never read"))
    root.add_child(odd)
    return root
'''
}

FILES["decorated"] = {
    "decorated.py": HEAD
    + """
from py_trees import behaviours as leaf
from py_trees import decorators as d
from py_trees.common import OneShotPolicy, Status

R, S, F = Status.RUNNING, Status.SUCCESS, Status.FAILURE


def queue(name, *queue):
    return leaf.StatusQueue(name=name, queue=list(queue), eventually=None)


def create_root():
    root = py_trees.composites.Parallel("root", py_trees.common.ParallelPolicy.SuccessOnAll(synchronise=False))
    decorated = [
        d.Inverter(name="inverted", child=queue("q1", R, S, F)),
        d.FailureIsSuccess(name="fis", child=queue("q2", R, F, S)),
        d.SuccessIsFailure(name="sif", child=queue("q3", S, R, F)),
        d.FailureIsRunning(name="fir", child=queue("q4", F, F, R, S)),
        d.SuccessIsRunning(name="sir", child=queue("q5", S, R, S, S, F)),
        d.RunningIsFailure(name="rif", child=queue("q6", R, R, S, F)),
        d.RunningIsSuccess(name="ris", child=queue("q7", R, F, S)),
        d.PassThrough(name="pass", child=queue("q8", R, F, S)),
        d.Count(name="count", child=queue("q9", R, F, S)),
        d.Retry(name="retry", child=queue("q10", F, R, F, F, S, F), num_failures=3),
        d.Repeat(name="repeat", child=queue("q11", S, R, S, F, S, S, S), num_success=3),
        d.Repeat(name="for ever", child=queue("q12", S, R, S, F), num_success=-1),
        d.OneShot(name="once", child=queue("q13", R, F, S), policy=OneShotPolicy.ON_COMPLETION),
        d.OneShot(name="until it goes", child=queue("q14", F, F, S, F), policy=OneShotPolicy.ON_SUCCESSFUL_COMPLETION),
        d.Condition(name="succeeded", child=queue("q15", F, R, S), status=S),
        d.Condition(name="failed", child=queue("q16", S, R, F), status=F),
        d.Condition(name="runs", child=queue("q17", S, R, F), status=R),
        py_trees.behaviours.Periodic("periodic", 2),
        py_trees.behaviours.SuccessEveryN("every", n=3),
        py_trees.behaviours.TickCounter("ticks", duration=2, completion_status=F),
        py_trees.behaviours.Dummy("dummy"),
    ]
    root.add_children([d.FailureIsSuccess(f"held {number}", each) for number, each in enumerate(decorated)])
    return root
"""
}

FILES["board"] = {
    "board.py": HEAD
    + """
from py_trees.behaviours import *
from py_trees.common import ComparisonExpression as Compare, Status
from py_trees.composites import Selector, Sequence


def setter(key, value, overwrite=True):
    return SetBlackboardVariable(name=f"{key} := {value}", variable_name=key, variable_value=value, overwrite=overwrite)


def counted():
    queue = [Status.RUNNING, Status.SUCCESS, Status.FAILURE]
    return StatusQueue("deed", queue=queue, eventually=None)


def create_root():
    policy = py_trees.common.ParallelPolicy.SuccessOnAll(synchronise=False)
    root = py_trees.composites.Parallel("root", policy=policy)
    parts = [
        py_trees.decorators.StatusToBlackboard(name="told", child=counted(), variable_name="/state/deed"),
        BlackboardToStatus(name="mirrored", variable_name="state/deed"),
        CheckBlackboardVariableExists("is there", variable_name="later"),
        WaitForBlackboardVariable("awaited", variable_name="later"),
        Sequence("setting", True, [
            TickCounter("a while", 2, Status.SUCCESS), setter("later", 3), setter("later", 4, overwrite=False)]),
        CheckBlackboardVariableValue("is three", Compare("later", 3, operator.eq)),
        CheckBlackboardVariableValue("is large", Compare("later", 2, lambda value, most: value > most and value < 10)),
        WaitForBlackboardVariableValue("three awaited", check=Compare("later", lambda: 3, operator.ge)),
        setter("level", 7.5),
        CompareBlackboardVariables("compared", var1_key="later", var2_key="level", operator=operator.lt),
        CheckBlackboardVariableValues("both", [Compare("later", 3, operator.eq), Compare("level", 7, operator.gt)],
                                      operator.and_),
        CheckBlackboardVariableValues("one", [Compare("later", 3, operator.eq), Compare("level", 7, operator.gt)],
                                      operator.xor, namespace="kept"),
        CheckBlackboardVariableValue("kept", Compare("kept/1", True, operator.eq)),
        Selector("unsetting", memory=True, children=[
            SuccessEveryN("rarely", 5),
            py_trees.decorators.Inverter("then", UnsetBlackboardVariable("gone", key="later"))]),
    ]
    root.add_children([py_trees.decorators.FailureIsSuccess(f"held {n}", part) for n, part in enumerate(parts)])
    return root
"""
}

FILES["guards"] = {
    "guards.py": HEAD
    + '''
from py_trees.decorators import EternalGuard


class Machine:
    def __init__(self):
        self.board = py_trees.blackboard.Client(name="machine")
        self.board.register_key("speed", access=py_trees.common.Access.WRITE)
        self.board.speed = 3

    def ready(self):
        ready = ask_the_machine()
        return ready is not None

    def create_root(self):
        slow = EternalGuard(name="slow", child=py_trees.behaviours.Running("creep"),
                            condition=lambda blackboard: 0 < blackboard.speed < 2, blackboard_keys=["speed"])
        fast = EternalGuard(name="fast", condition=is_fast, blackboard_keys={"speed"},
                            child=py_trees.behaviours.Running("run"))
        asked = EternalGuard(name="asked", condition=self.ready, child=py_trees.behaviours.Running("work"))
        return py_trees.composites.Selector("root", memory=False, children=[slow, fast, asked])


def is_fast(blackboard):
    """Is it fast?"""
    if blackboard.get("speed") >= 2 and blackboard.exists("speed"):
        return True
    return False


root = Machine().create_root()
'''
}

FILES["idioms"] = {
    "idioms.py": HEAD
    + """
from py_trees import idioms
from py_trees.behaviours import StatusQueue, TickCounter
from py_trees.common import OneShotPolicy, Status

R, S, F = Status.RUNNING, Status.SUCCESS, Status.FAILURE


def create_root():
    root = py_trees.composites.Parallel("root", policy=py_trees.common.ParallelPolicy.SuccessOnAll(False))
    tasks = [TickCounter(name=f"Task {n}", duration=n, completion_status=S) for n in (1, 2)]
    interrupted = py_trees.composites.Selector("interrupted", memory=False)
    interrupted.add_child(py_trees.behaviours.SuccessEveryN("interrupt", 3))
    interrupted.add_child(idioms.pick_up_where_you_left_off("resumed", tasks))
    first = idioms.oneshot(StatusQueue("shot", [R, F, R, S, F], None), name="first", variable_name="first_done",
                           policy=OneShotPolicy.ON_SUCCESSFUL_COMPLETION)
    second = idioms.oneshot(StatusQueue("other shot", [R, F, S], None), "second", "second_done",
                            OneShotPolicy.ON_COMPLETION)
    root.add_children([interrupted, py_trees.decorators.FailureIsSuccess("a", first),
                       py_trees.decorators.FailureIsSuccess("b", second)])
    return root
"""
}


def write(name: str, folder: Path) -> Path:
    """Writes the files of a shape; returns what is imported."""
    for place, text in FILES[name].items():
        (path := folder / "source" / place).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "source" if len(FILES[name]) > 1 else folder / "source" / f"{name}.py"
