"""Checks only for kinds that ask a model: existing skills, fitting examples, votes that can differ, and descriptions
of children."""

from __future__ import annotations

from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.faults.diagnostic import did_you_mean
from bt_runtime.language.outputs import chosen, misfit
from bt_runtime.language.project import plugins
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.language.values import Computed

MODEL = "model"  # writes the plans itself
PLANNED, ANOTHER = "planned", "another"  # examples that a planner makes; those of a made-up trade
EARLY, IDLE = WITHHELD = ("early_done", "idle_acts")
WORLD = "world"  # in `actions:` it stands for all that the world offers


def about(spec: NodeSpec) -> str:
    """The description of a node: its own, else that of its tree, else that of its skill."""
    while spec.kind.transparent:
        spec = spec.children[0]
    tree = spec.subtree or spec.again
    said = str(spec.values.get("about", "")) if spec.kind.field("about") is None else ""
    return said or (tree.about if tree is not None else spec.kind.about if spec.kind.family == "skill" else "")


def check_actions(tree: TreeSpec, spec: NodeSpec, diagnostics: Diagnostics) -> None:
    """Checks the listed skills. A tree that lists none takes those of its caller, which are unknown here."""
    listed = spec.given.get("actions")
    known = [kind.name for kind in tree.registry.skills()]
    if not known or not isinstance(listed, YamlList):
        return
    for item in listed:
        if isinstance(item, Scalar) and "{" not in item.text and item.text not in (*known, WORLD):
            diagnostics.error(
                "BT012",
                f"`actions` names `{item.text:.60}`, which is no skill of this tree",
                spec.file,
                item.span,
                did_you_mean(item.text, [*known, WORLD]),
                f"skills here: {', '.join(known)}",
            )


def check_plan(tree: TreeSpec, spec: NodeSpec, diagnostics: Diagnostics) -> None:
    check_by(tree, spec, diagnostics)
    if spec.values.get("by", MODEL) == MODEL and "leaf" not in spec.given:
        diagnostics.error("BT015", "`plan` lacks its field `leaf`", spec.file, spec.span,
                          help="write `leaf: react`, or `by: backchaining`, which needs none")  # fmt: skip


def check_by(tree: TreeSpec, spec: NodeSpec, diagnostics: Diagnostics) -> None:
    """Checks the listed skills, and that the planner is installed."""
    check_actions(tree, spec, diagnostics)
    by = spec.given.get("by")
    if isinstance(by, Scalar) and "{" not in by.text and by.text not in (known := [MODEL, *plugins.names("planners")]):
        diagnostics.error("BT016", f"no planner is called `{by.text:.60}`", spec.file, by.span,
                          did_you_mean(by.text, known), f"by: {', '.join(known)}")  # fmt: skip


def check_agent(tree: TreeSpec, spec: NodeSpec, diagnostics: Diagnostics) -> None:
    check_by(tree, spec, diagnostics)
    withheld = spec.given.get("withhold")
    for item in withheld if isinstance(withheld, YamlList) else ():
        if isinstance(item, Scalar) and "{" not in item.text and item.text not in WITHHELD:
            diagnostics.error("BT016", f"`withhold` takes {' and '.join(WITHHELD)}, not `{item.text:.60}`", spec.file,
                              item.span, did_you_mean(item.text, WITHHELD))  # fmt: skip
    if spec.values.get("finish") == "likely" and spec.values.get("score", "sum") != "sum":
        diagnostics.error(
            "BT016", f"`score: {spec.values['score']}` is no likelihood, which `finish: likely` compares",
            spec.file, spec.given["score"].span, help="write `finish: judge`, or `score: sum`",
        )  # fmt: skip


def check_route(tree: TreeSpec, spec: NodeSpec, diagnostics: Diagnostics) -> None:
    for child, place in zip(spec.children, spec.places, strict=True):
        if place == "children" and not about(child).strip():
            kind = child.children[0].kind if child.kind.transparent and child.children else child.kind
            diagnostics.error(
                "BT015", f"this `{kind.name}` does not say what it is for", child.file, child.span,
                help=f"a `route` chooses by it: `{kind.name}: {{about: invoices and refunds, ...}}`",
            )  # fmt: skip


def check_outputs(tree: TreeSpec, spec: NodeSpec, diagnostics: Diagnostics) -> None:
    if isinstance(spec.values.get("outputs"), dict):
        _odds(spec, diagnostics)
        shots = spec.given.get("shots")
        if isinstance(shots, YamlList):
            for shot in shots:
                _shot(spec, shot, diagnostics)


def _odds(spec: NodeSpec, diagnostics: Diagnostics) -> None:
    values, votes = spec.values, spec.values.get("votes", 1)
    asked = [name for name in ("margin", "distribution") if name in spec.given]
    if asked and votes == 1 and not any(chosen(output) for output in values["outputs"].values()):
        diagnostics.error(
            "BT016", f"nothing is chosen here that could have a {asked[0]}", spec.file, spec.given[asked[0]].span,
            help="it is of `choices`, of a boolean, or of an integer between two bounds; or of several `votes`",
        )  # fmt: skip
    if isinstance(votes, int) and votes > 1:
        alike = values.get("temperature", 0) == 0
        same = not values.get("think", 0) and all(chosen(output) for output in values["outputs"].values())
        if alike or same:
            why = "at temperature 0" if alike else "without a thought before the choice"
            diagnostics.error(
                "BT016", f"{votes} votes {why} are the same one", spec.file, spec.given["votes"].span,
                help="let each think for itself: `think: 100`, `temperature: 0.7`",
            )  # fmt: skip


def _shot(spec: NodeSpec, shot: Node, diagnostics: Diagnostics) -> None:
    """Checks an example that is written in the tree; a computed example is checked when it is used."""
    if not isinstance(shot, YamlMap):
        diagnostics.error(
            "BT016", "a case of `shots` is a mapping", spec.file, shot.span, help="of outputs, and of holes"
        )
        return
    for name, output in spec.values["outputs"].items():
        given = shot.get(name)
        if given is None:
            diagnostics.error(
                "BT015", f"this case has no `{name}`", spec.file, shot.span, help="a case shows every output"
            )
        elif not isinstance(output.choices, Computed) and "{" not in str(given.data()):
            why = misfit(output, given.data())
            if why:
                diagnostics.error("BT016", f"`{name}` cannot be answered like this: {why}", spec.file, given.span)
