"""A node of each kind that asks a model, in a tree that repeats it."""

from __future__ import annotations

from bt_runtime.types import Question

NODES = {  # a node of each kind that asks a model
    "agent": "{goal: tidy, moves: [think, act]}",
    "tree_search": "{goal: tidy, moves: [act]}",
    "plan": "{goal: tidy, leaf: react}",
    "infer": '{prompt: "round {n}", outputs: {kind: {choices: [a, b]}}}',
    "route": "{prompt: go, children: [{wait: {seconds: 0, about: a}}, {wait: {seconds: 0, about: b}}]}",
    "reflect": "{goal: tidy, parts: [summary, flaw], into: notes}",
    "rewrite": "{goal: tidy, reflections: [{goal: tidy, lesson: look}], into: text}",
    "verify": "{goal: is it nice, think: 20}",
    "want": "{goal: the fridge has to be nice, into: text}",
}


TREE = """version: 1
tree: t
outputs: {{notes: {{type: list, default: []}}, text: {{type: string, default: ""}}, kind: string}}
blackboard: {{n: {{type: integer, default: 0}}}}
root:
  repeat:
    times: -1
    child:
      sequence:
        - set: {{n: "{{n + 1}}"}}
        - fallback:
            - {kind}: {node}
            - wait: 0
"""


def answer(question: Question) -> str:
    if question.kind == "write":
        return "1. look first\n" if "New plan:" in question.prompt else " look first"
    return "Think: x" if "Think:" in question.moves else question.alternatives[0]
