"""`btr lab eval` over a project's cases, in a tree whose skills are a server's tools: the node is measured, and no tool
is called."""

from __future__ import annotations

from pathlib import Path

from bt_lab.run.own_cases import answers, judge_of, read
from bt_runtime import load
from bt_runtime.agents import ScriptedModel
from bt_runtime.types import Question
from packages.author.tests.mcp.test_leaf import notes, shop

__all__ = ["shop"]
TREE = """\
version: 1
tree: judge
skills: [shop]
blackboard: {said: {type: string, default: ""}, open: {type: boolean, default: false}}
root:
  sequence:
    - say: {text: "{said}"}
    - infer: {prompt: "Is the shop open? {said}", outputs: {open: {type: boolean}}}
    - check: open
    - add: {a: 1, b: 2}
"""


def test_cases_are_answered_beside_tools_that_nobody_starts(shop: Path, tmp_path: Path) -> None:
    (shop / "trees" / "judge.yaml").write_text(TREE)
    path = tmp_path / "cases.csv"
    path.write_text("said,open\nopen till nine,true\nclosed,false\nnobody is here,true\n")
    tree = load("judge", project=shop)
    judge = judge_of(tree)

    def judged(question: Question) -> str:
        wanted = "yes" if "till nine" in question.prompt else "no"
        return next(option for option in question.options if wanted in option)

    model = ScriptedModel(judged)
    found = answers(read(path, judge), judge, tree, {"default": model})
    assert [each.fault for each in found] == ["", "", ""]
    assert [(each.answers["open"], each.case.right["open"]) for each in found] == [
        (True, True), (False, False), (False, True),
    ]  # fmt: skip
    assert notes(shop) == ""
