"""What py_trees brings: its composites, decorators, leaves and policies, with the parameters of each."""

from __future__ import annotations

from typing import NamedTuple

from bt_robots.pytrees.values import Behaviour, Value

NEEDED = object()  # a parameter that must be given


class StockKind(NamedTuple):
    """A class of py_trees: where it is, and its parameters after `name`, with their defaults."""

    module: str
    params: dict[str, Value]

    @property
    def decorator(self) -> bool:
        return self.module == "decorators"


def _kinds(module: str, **classes: dict[str, Value]) -> dict[str, StockKind]:
    return {name: StockKind(module, params) for name, params in classes.items()}


_CHILD = {"child": NEEDED}
KINDS = {
    **_kinds(
        "composites",
        Sequence={"memory": None, "children": None},
        Selector={"memory": None, "children": None},
        Parallel={"policy": None, "children": None},
    ),
    **_kinds(
        "decorators",
        Inverter=_CHILD,
        RunningIsFailure=_CHILD,
        RunningIsSuccess=_CHILD,
        FailureIsSuccess=_CHILD,
        FailureIsRunning=_CHILD,
        SuccessIsFailure=_CHILD,
        SuccessIsRunning=_CHILD,
        PassThrough=_CHILD,
        Count=_CHILD,
        Timeout={**_CHILD, "duration": 5.0},
        Retry={**_CHILD, "num_failures": NEEDED},
        Repeat={**_CHILD, "num_success": NEEDED},
        OneShot={**_CHILD, "policy": NEEDED},
        Condition={**_CHILD, "status": NEEDED},
        EternalGuard={**_CHILD, "condition": NEEDED, "blackboard_keys": None},
        StatusToBlackboard={**_CHILD, "variable_name": NEEDED},
        ForEach={**_CHILD, "source_key": NEEDED, "target_key": NEEDED},
    ),
    **_kinds(
        "behaviours",
        Success={},
        Failure={},
        Running={},
        Dummy={},
        Periodic={"n": NEEDED},
        SuccessEveryN={"n": NEEDED},
        StatusQueue={"queue": NEEDED, "eventually": None},
        TickCounter={"duration": NEEDED, "completion_status": NEEDED},
        ProbabilisticBehaviour={"weights": None},
        BlackboardToStatus={"variable_name": NEEDED},
        CheckBlackboardVariableExists={"variable_name": NEEDED},
        WaitForBlackboardVariable={"variable_name": NEEDED},
        UnsetBlackboardVariable={"key": NEEDED},
        SetBlackboardVariable={"variable_name": NEEDED, "variable_value": NEEDED, "overwrite": True},
        CheckBlackboardVariableValue={"check": NEEDED},
        WaitForBlackboardVariableValue={"check": NEEDED},
        CheckBlackboardVariableValues={"checks": NEEDED, "operator": NEEDED, "namespace": None},
        CompareBlackboardVariables={"var1_key": NEEDED, "var2_key": NEEDED, "operator": NEEDED},
    ),
    **_kinds("timers", Timer={"duration": 5.0}),
}
COMPOSITES = ("Sequence", "Selector", "Parallel")
STATUSES = ("SUCCESS", "FAILURE", "RUNNING", "INVALID")
POLICIES = ("SuccessOnAll", "SuccessOnOne", "SuccessOnSelected")
OLD_POLICIES = {"SUCCESS_ON_ALL": "SuccessOnAll", "SUCCESS_ON_ONE": "SuccessOnOne"}  # of versions before 1.0
# What a class of its own changes by these methods, beside what it inherits.
TICKED = {"tick", "update", "stop"}
ENTERED = {"initialise", "terminate"}


def known(name: str) -> str:
    """The class of py_trees that a dotted name refers to; "" for none that is known."""
    parts = name.split(".")
    if parts[0] != "py_trees" or parts[-1] not in KINDS:
        return ""
    kind = KINDS[parts[-1]]
    return parts[-1] if len(parts) == 2 or kind.module == parts[-2] else ""


class NoFit(Exception):
    """The arguments are those of another version of py_trees."""


def bind(made: Behaviour, kind: str, args: list[Value], named: dict[str, Value]) -> None:
    """Sets a behaviour's name, arguments and children from a call of its class."""
    params = ["name", *KINDS[kind].params]
    if len(args) > len(params):
        raise NoFit(f"`{kind}` takes {len(params)} arguments")
    if KINDS[kind].decorator and args and isinstance(args[0], Behaviour):  # as versions before 2.0 have it
        params[:2] = ["child", "name"]
    given = dict(zip(params, args, strict=False))
    for name, value in named.items():
        if name not in params or name in given:
            raise NoFit(f"`{kind}` takes no `{name}`")
        given[name] = value
    for name, default in KINDS[kind].params.items():
        if name not in given and default is NEEDED:
            raise NoFit(f"`{kind}` needs `{name}`")
        made.args[name] = given.get(name, default)
    made.attributes |= {name: value for name, value in made.args.items() if name != "children"}
    if "name" in given:
        name_node(made, given["name"])
    if "child" in made.args:
        made.children = [made.args["child"]]
    elif isinstance(children := made.args.get("children"), list | tuple):
        made.children = list(children)
    elif children is not None:
        made.children = [children]


def name_node(made: Behaviour, name: Value) -> None:
    if isinstance(name, str):
        made.name = name
    elif name is not None and not (hasattr(name, "name") and name.name.endswith("AUTO_GENERATED")):
        made.notes.append(f"its name is known only when it runs: called `{made.name}`")
