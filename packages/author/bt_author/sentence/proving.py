"""Holds a drafted tree against the properties that the project asks of it: what is broken is a fault for the model."""

from __future__ import annotations

from typing import NamedTuple

from bt_author.proof.check import check
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.run import Tree
from bt_runtime.testing.promise import promised

STATES = 20_000  # states of a tree's model
SECONDS = 10.0  # seconds of a proof
MOST_STORY = 8  # lines of a counterexample


class Proved(NamedTuple):
    faults: list[str]  # broken properties, each with its shortest story
    questions: list[str]  # properties that could not be decided, as questions


def proved(tree: Tree) -> Proved:
    """The properties of the project and of the manifests that the tree lists."""
    if not tree.spec.properties:
        return Proved([], [])
    try:
        results = check(tree, states=STATES, seconds=SECONDS, found_by="btr new tree --from")
    except BtError as error:
        return Proved([], [f"its properties were not decided: {error.message}"])
    faults = [
        "\n  ".join([f"the property {promised(each.property)} is broken by this run:", *each.story[:MOST_STORY]])
        for each in results
        if each.outcome == "refuted"
    ]
    opened = [promised(each.property) for each in results if each.outcome == "open"]
    written = sorted({name for each in results for name in each.assumes})
    questions = [f"does anything else write `{name}`? the proof takes it that nothing does" for name in written]
    return Proved(faults, [*(f"does it keep {each}? that was not decided" for each in opened), *questions])
