"""What a model is asked by `infer` and `route`: examples that fit, votes that can differ, children that say what they
are for."""

from __future__ import annotations

from bt_runtime.language.findings import Findings
from bt_runtime.language.outputs import chosen, misfit
from bt_runtime.language.source import Node, YamlList, YamlMap
from bt_runtime.language.spec import NodeSpec
from bt_runtime.language.values import Computed


def about(spec: NodeSpec) -> str:
    """What a node is for: as it says itself, else the tree that it stands for, else the skill."""
    while spec.kind.transparent:
        spec = spec.children[0]
    tree = spec.subtree or spec.again
    said = str(spec.values.get("about", "")) if spec.kind.field("about") is None else ""
    return said or (tree.about if tree is not None else spec.kind.about if spec.kind.family == "skill" else "")


def check_route(spec: NodeSpec, findings: Findings) -> None:
    for child, place in zip(spec.children, spec.places, strict=True):
        if place == "children" and not about(child).strip():
            kind = child.children[0].kind if child.kind.transparent and child.children else child.kind
            findings.error(
                "BT015", f"this `{kind.name}` does not say what it is for", child.file, child.span,
                help=f"a `route` chooses by it: `{kind.name}: {{about: invoices and refunds, ...}}`",
            )  # fmt: skip


def check_outputs(spec: NodeSpec, findings: Findings) -> None:
    values = spec.values
    if isinstance(values["outputs"], dict):
        _odds(spec, findings)
        shots = spec.given.get("shots")
        if isinstance(shots, YamlList):
            for shot in shots:
                _shot(spec, shot, findings)


def _odds(spec: NodeSpec, findings: Findings) -> None:
    values, votes = spec.values, spec.values.get("votes", 1)
    asked = [name for name in ("margin", "distribution") if name in spec.given]
    if asked and votes == 1 and not any(chosen(output) for output in values["outputs"].values()):
        findings.error(
            "BT016", f"nothing is chosen here that could have a {asked[0]}", spec.file, spec.given[asked[0]].span,
            help="it is of `choices`, of a boolean, or of an integer between two bounds; or of several `votes`",
        )  # fmt: skip
    if isinstance(votes, int) and votes > 1:
        alike = values.get("temperature", 0) == 0
        same = not values.get("think", 0) and all(chosen(output) for output in values["outputs"].values())
        if alike or same:
            why = "at temperature 0" if alike else "without a thought before the choice"
            findings.error(
                "BT016", f"{votes} votes {why} are the same one", spec.file, spec.given["votes"].span,
                help="let each think for itself: `think: 100`, `temperature: 0.7`",
            )  # fmt: skip


def _shot(spec: NodeSpec, shot: Node, findings: Findings) -> None:
    """One that is written out; one that is computed is looked at when it is used."""
    if not isinstance(shot, YamlMap):
        findings.error("BT016", "a case of `shots` is a mapping", spec.file, shot.span, help="of outputs, and of holes")
        return
    for name, output in spec.values["outputs"].items():
        given = shot.get(name)
        if given is None:
            findings.error(
                "BT015", f"this case has no `{name}`", spec.file, shot.span, help="a case shows every output"
            )
        elif not isinstance(output.choices, Computed) and "{" not in str(given.data()):
            why = misfit(output, given.data())
            if why:
                findings.error("BT016", f"`{name}` cannot be answered like this: {why}", spec.file, given.span)
