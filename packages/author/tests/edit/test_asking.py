"""A change in a sentence: proposed as a diff, taken as one step that can be undone, or dropped without a trace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit.asking import Proposal
from bt_author.edit.commands import Commands
from bt_author.edit.session import Session
from bt_author.lsp.workspace import Workspace
from bt_author.sentence.amending import amended
from bt_author.sentence.drafting import Author, Refused
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from packages.author.tests.sentence.test_proving import MANIFEST

MINE = """\
version: 1
tree: main # mine
skills: [rover]
# why this way round
root:
  sequence:
    # first the hall
    - drive: hall
    - drive: {place: kitchen}   # second
"""
HEAD = 'version: 1\ntree: main\nskills: ["rover"]\n'
ADDED = f'{HEAD}root:\n  sequence:\n    - drive: "hall"\n    - charge: {{}}\n    - drive: {{"place": "kitchen"}}\n'
WRAPPED = (
    f'{HEAD}blackboard: {{"low": {{"type": "boolean", "default": false}}}}\nroot:\n  reactive_fallback:\n'
    '    - sequence:\n        - check: "low"\n        - drive: {"place": "dock"}\n        - charge: {}\n'
    '        - fail: "back"\n    - sequence:\n        - drive: "hall"\n        - drive: {"place": "kitchen"}\n'
)
REMOVED = f'{HEAD}root:\n  sequence:\n    - drive: {{"place": "kitchen"}}\n'
OTHER = f"{HEAD}root:\n  charge: {{}}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("trees", "skills"):
        (tmp_path / folder).mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills" / "rover.yaml").write_text(MANIFEST)
    (tmp_path / "trees" / "main.yaml").write_text(MINE)
    return tmp_path


def changed(root: Path, *answers: str, rounds: int = 1) -> str:
    author = Author(ScriptedModel(list(answers)), root)
    return amended(author, root / "trees" / "main.yaml", MINE, "as I say", rounds).text


# The text ----------------------------------------------------------------------------------------------


def test_a_new_node_comes_between_the_lines_of_the_person(root: Path) -> None:
    second = "    - drive: {place: kitchen}   # second\n"
    assert changed(root, ADDED) == MINE.replace(second, f"    - charge: {{}}\n{second}")


def test_what_is_wrapped_keeps_its_comments_at_its_new_place(root: Path) -> None:
    made = changed(root, WRAPPED)
    inner = "    # first the hall\n    - drive: hall\n    - drive: {place: kitchen}   # second\n"
    assert (
        made.endswith("    - sequence:\n" + inner.replace("    #", "        #", 1).replace("    -", "        -"))
        and "tree: main # mine\n" in made
        and "# why this way round\nroot:\n" in made
    )
    assert "blackboard: {low: {type: boolean, default: false}}\n" in made and "- check: low\n" in made


def test_a_removed_node_goes_with_its_comment_and_the_rest_stays(root: Path) -> None:
    assert changed(root, REMOVED) == MINE.replace("    # first the hall\n    - drive: hall\n", "")


def test_another_tree_is_taken_as_it_is_and_an_unchanged_one_changes_nothing(root: Path) -> None:
    assert "charge: {}" in changed(root, OTHER) and "drive" not in changed(root, OTHER)
    same = f'{HEAD}root:\n  sequence:\n    - drive: "hall"\n    - drive: {{"place": "kitchen"}}\n'
    assert changed(root, same) == MINE


def test_a_change_that_breaks_a_property_or_is_no_tree_is_refused(root: Path) -> None:
    broken = f'{HEAD}root:\n  parallel:\n    - drive: "hall"\n    - charge: {{}}\n'
    for answer in (broken, "sorry, I cannot"):
        with pytest.raises(Refused):
            changed(root, answer)


# The commands ------------------------------------------------------------------------------------------


def page(root: Path, write: Callable[..., Proposal] | None) -> tuple[Commands, Callable[..., Any]]:
    commands = Commands(Session(Workspace(root, files, sort)), write)
    return commands, lambda move, **given: commands("ask", {"path": "trees/main.yaml", "move": move, **given})


def text_of(commands: Commands) -> str:
    return str(commands("open", {"path": "trees/main.yaml"})["text"])  # type: ignore[index,call-overload]


def proposes(text: str) -> Callable[..., Proposal]:
    return lambda path, before, wish, told: Proposal(before.replace("hall", text), [wish])


def over(ask: Callable[..., Any]) -> Any:
    said = ask("look", wait=True)
    while said["state"] == "writing":
        said = ask("look", wait=True)
    return said


def test_a_proposal_is_a_diff_and_one_step(root: Path) -> None:
    commands, ask = page(root, proposes("office"))
    assert commands("files", {})["asks"] is True  # type: ignore[index,call-overload]
    ask("begin", wish="the office instead")
    said = over(ask)
    assert "-    - drive: hall" in said["diff"] and "+    - drive: office" in said["diff"]
    assert said["notes"] == ["the office instead"] and text_of(commands) == MINE
    ask("take")
    assert "drive: office" in text_of(commands)
    assert (root / "trees" / "main.yaml").read_text() == MINE, "nothing is written before a save"
    commands("undo", {"path": "trees/main.yaml"})
    assert text_of(commands) == MINE


def test_a_proposal_that_takes_an_interlock_away_says_so_and_is_agreed_to(root: Path) -> None:
    """A model's text without the person's property is taken only by a command that names what goes."""
    path = root / "trees" / "main.yaml"
    path.write_text(MINE.replace("root:\n", 'properties: {calm: {never: "1 > 2"}}\nroot:\n'))
    commands, ask = page(root, lambda path, before, wish, told: Proposal(MINE, []))
    ask("begin", wish="the office instead")
    said = over(ask)
    assert said["loosens"] == ["the property `calm` is changed or gone"]
    for agreed in (None, [], ["something else"]):
        with pytest.raises(BtError, match="takes away: the property `calm`"):
            ask("take", loosens=agreed)
    assert "calm" in text_of(commands)
    ask("take", loosens=said["loosens"])
    assert text_of(commands) == MINE


def test_a_dropped_or_late_proposal_changes_nothing(root: Path) -> None:
    """Dropped, or the file was changed while the model wrote."""
    commands, ask = page(root, proposes("office"))
    ask("begin", wish="x")
    over(ask)
    ask("drop")
    with pytest.raises(BtError, match="nothing was asked"):
        ask("take")
    ask("begin", wish="x")
    over(ask)
    version = commands("open", {"path": "trees/main.yaml"})["version"]  # type: ignore[index,call-overload]
    commands("text", {"path": "trees/main.yaml", "version": version, "text": MINE + "# more\n"})
    with pytest.raises(BtError, match="changed meanwhile"):
        ask("take")
    assert text_of(commands) == MINE + "# more\n"


def test_the_page_answers_while_the_model_writes_and_one_wish_is_written_at_a_time(root: Path) -> None:
    going, told = threading.Event(), threading.Event()

    def slow(path: Path, before: str, wish: str, tell: Callable[[str], object]) -> Proposal:
        tell("round 1: 2 faults")
        told.set()
        going.wait(60)
        raise BtError("no sound tree after 3 rounds", "say it in other words")

    commands, ask = page(root, slow)
    assert ask("begin", wish="x")["state"] == "writing"
    assert told.wait(60)
    assert ask("look")["told"] == ["round 1: 2 faults"] and text_of(commands) == MINE
    with pytest.raises(BtError, match="still writing"):
        ask("begin", wish="y")
    going.set()
    assert "no sound tree" in over(ask)["why"]


def test_without_a_model_the_page_says_how_to_start_it(root: Path) -> None:
    commands, ask = page(root, None)
    assert commands("files", {})["asks"] is False  # type: ignore[index,call-overload]
    with pytest.raises(BtError, match="no model is there to ask"):
        ask("begin", wish="x")


def test_a_model_that_breaks_and_an_empty_wish_are_told(root: Path) -> None:
    def broken(*given: Any) -> Proposal:
        raise RuntimeError("out of memory")

    _, ask = page(root, broken)
    ask("begin", wish="x")
    assert "out of memory" in over(ask)["why"]
    with pytest.raises(BtError, match="empty"):
        ask("begin", wish="  ")
