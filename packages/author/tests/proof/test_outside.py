"""What may come from outside is read off the specs of all parts; a verdict names what it takes for granted of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_author.cli import check as check_command
from bt_author.proof import check as check_module
from bt_author.proof.check import Result, check
from bt_runtime import BtError, Tree, load
from bt_runtime.cli import Exit, main
from bt_runtime.language.outside import outside, written
from bt_runtime.language.project import disk
from bt_runtime.testing.fuzz import fuzz
from bt_runtime.testing.values import ChosenValues
from tests.support.random_trees import SKILLS

HEAD = (
    "version: 1\ntree: t\nblackboard:\n"
    "  low: {type: boolean, default: false%s}\n  battery: {type: number, default: 1%s}\n"
)
AFTERWARDS = HEAD + "root:\n  sequence: [go: {}, set: {low: false}]\n"
PATROL = HEAD + (
    "root:\n  reactive_fallback:\n    - sequence:\n        when: battery < 0.2\n"
    "        children: [grab: {}, set: {battery: 1}, fail: back]\n    - go: {}\n"
)
YES, NO = ", outside: true", ", outside: false"


def project(folder: Path, tree: str, **included: str) -> Tree:
    """Writes a project of trees, and loads the tree `t`."""
    (folder / "trees").mkdir(exist_ok=True)
    (folder / "btr.yaml").write_text("version: 1\n")
    for name, text in {"t": tree, **included}.items():
        (folder / "trees" / f"{name}.yaml").write_text(f"version: 1\ntree: {name}\n{text}")
    return load(folder / "trees" / "t.yaml", skills=SKILLS, project=folder)


def one(tree: Tree, never: str, **more: object) -> Result:
    [result] = check(tree, never=never, **more)  # type: ignore[arg-type]
    return result


@pytest.mark.parametrize(
    ("said", "outcome", "assumes"), [("", "proved", ("low",)), (YES, "refuted", ()), (NO, "proved", ())]
)
def test_an_entry_that_a_node_writes_too_changes_from_outside_when_it_says_so(
    said: str, outcome: str, assumes: tuple[str, ...]
) -> None:
    """Where it says nothing, the proof names it as an assumption."""
    result = one(load(AFTERWARDS % (said, ""), skills=SKILLS), "low and go is running")
    assert (result.outcome, result.assumes) == (outcome, assumes)
    assert ("if only the tree writes `low`" in result.words()) == bool(assumes)


def test_an_output_of_an_included_tree_keeps_what_came_from_outside_after_an_unset(tmp_path: Path) -> None:
    """The included tree's default stands only while nobody outside has written the entry since it was unset."""
    top = f"blackboard:\n  b: {{type: boolean, default: true{YES}}}\n"
    top += "root:\n  sequence: [unset: b, wait: 1, tree: {file: s, with: {b: '{b}'}}]\n"
    included = "outputs:\n  b: {type: boolean, default: true}\nroot: {if: {check: not b, then: {go: {}}}}\n"
    tree = project(tmp_path, top, s=included)
    assert one(tree, "go is running").outcome == "refuted"


def test_a_sensor_that_the_tree_resets_makes_no_vacuous_proof() -> None:
    assert one(load(PATROL % ("", YES), skills=SKILLS), "grab is running").outcome == "refuted"
    assert one(load(PATROL % ("", ""), skills=SKILLS), "grab is running").assumes == ("battery",)


def test_an_assumption_is_named_where_it_matters_alone() -> None:
    """`battery` is written and read, but not by what the property depends on."""
    text = HEAD % ("", "") + "root:\n  sequence: [go: {}, set: {battery: '{battery - 1}'}, check: battery > 0]\n"
    assert one(load(text, skills=SKILLS), "low and grab is running").assumes == ()


def test_listed_values_of_such_an_entry_come_from_outside() -> None:
    tree = load(AFTERWARDS % ("", ""), skills=SKILLS)
    assert one(tree, "low and go is running", values={"low": [True, False]}).outcome == "refuted"


@pytest.mark.parametrize("search", [check, fuzz])
def test_values_that_have_no_effect_are_refused(search) -> None:
    tree = load(AFTERWARDS % (NO, ""), skills=SKILLS)
    with pytest.raises(BtError, match="values for `low` have no effect: it is declared `outside: false`") as fault:
        search(tree, never="low and go is running", values={"low": [True]})
    assert "outside: true" in str(fault.value)
    output = load("version: 1\ntree: t\noutputs: {d: boolean}\nroot: {set: {d: true}}\n")
    with pytest.raises(BtError, match="values for `d` have no effect: it is an output"):
        search(output, never="d", values={"d": [True]})


def test_random_cases_and_proofs_draw_the_same_from_outside() -> None:
    for said, names in (("", ["battery"]), (YES, ["low", "battery"]), (NO, ["battery"])):
        spec = load(AFTERWARDS % (said, ""), skills=SKILLS).spec
        assert [port.name for port in ChosenValues(spec).outside()] == names
        assert [port.name for port in outside(spec, written(spec))] == names
    assert fuzz(load(AFTERWARDS % (YES, ""), skills=SKILLS), never="low and go is running", runs=50) is not None
    assert fuzz(load(AFTERWARDS % (NO, ""), skills=SKILLS), never="low and go is running", runs=50) is None


@pytest.mark.parametrize(
    ("ports", "included"),
    [
        ("", "{file: s}"), ("", "{file: s, autoremap: true}"),
        ("inputs: {a: boolean}\n", "{file: s, with: {a: '{b}'}}"),
        ("inputs: {a: boolean}\n", "{file: s, with: {a: '{not b}'}}"),
    ],
)  # fmt: skip
def test_an_entry_that_an_included_tree_only_reads_changes_from_outside(
    tmp_path: Path, ports: str, included: str
) -> None:
    tree = project(
        tmp_path,
        "blackboard: {b: {type: boolean, default: false}}\n"
        f"root:\n  if: {{check: b, then: {{tree: {included}}}, else: {{succeed: {{}}}}}}\n",
        s=f"{ports}root: {{wait: 5}}\n",
    )
    assert one(tree, "/t is running and b").outcome == "refuted"


@pytest.mark.parametrize(
    ("ports", "included"),
    [
        ("outputs: {a: boolean}\nroot: {set: {a: false}}\n", "{file: s, with: {a: '{b}'}}"),
        ("root: {set: {b: false}}\n", "{file: s, autoremap: true}"),
        ("outputs: {a: boolean}\nroot: {look: {seen: '{a}'}}\n", "{file: s, with: {a: '{b}'}}"),
        ("outputs: {a: boolean}\nroot: {tree: {file: r, with: {c: '{a}'}}}\n", "{file: s, with: {a: '{b}'}}"),
    ],
)
def test_an_entry_that_an_included_tree_writes_is_written_by_the_tree(
    tmp_path: Path, ports: str, included: str
) -> None:
    again = "{file: r, with: {k: '{k - 1}', c: '{c}'}}"
    tree = project(
        tmp_path,
        f"blackboard: {{b: {{type: boolean, default: false}}}}\nroot: {{tree: {included}}}\n",
        s=ports,
        r="inputs: {k: {type: integer, default: 1}}\noutputs: {c: boolean}\n"
        f"root: {{if: {{check: k > 0, then: {{tree: {again}}}, else: {{set: {{c: false}}}}}}}}\n",
    )
    assert written(tree.spec) == {"b"}


def test_an_entry_that_a_fleet_shares_changes_from_outside_in_an_included_tree(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        "root: {tree: s}\n",
        s="blackboard: {door: {type: boolean, shared: fleet, default: false}}\n"
        "root: {sequence: [{if: {check: door, then: {wait: 5}, else: {succeed: {}}}}, {set: {door: false}}]}\n",
    )
    assert one(tree, "/t is running").outcome == "refuted"
    assert fuzz(tree, never="/t is running", runs=50) is not None


@pytest.mark.parametrize("kind", ["boolean", "integer", "number", "string", "list", "object", "any"])
def test_a_story_gives_no_value_to_an_entry_whose_value_does_not_matter(tmp_path: Path, kind: str) -> None:
    tree = project(
        tmp_path,
        f"blackboard: {{a: {kind}}}\nroot:\n  tree: {{file: s, with: {{a: '{{a}}'}}}}\n",
        s=f"inputs: {{a: {kind}}}\nroot: {{succeed: {{}}}}\n",
    )
    assert one(tree, "tree is success").outcome == "refuted"


def test_a_story_writes_an_entry_again_from_outside_after_a_node_has() -> None:
    """`low` is true, a node makes it false, and it is true again."""
    rounds = "root: {repeat: {times: 2, child: {sequence: [{go: {}}, {set: {low: false}}, {grab: {}}]}}}\n"
    tree = load(HEAD % (YES, "") + rounds, skills=SKILLS)
    low, reset = "low and go is running", "not low and grab is running"
    [result] = check(tree, ltl=f"not F({low} and X(F({reset} and F({low}))))")
    assert result.outcome == "refuted" and result.finding is not None


def test_an_entry_that_a_node_unsets_may_stay_away_or_come_back() -> None:
    text = HEAD % (YES, "") + "root:\n  sequence: [unset: low, go: {}, fallback: [check: exists(low), grab: {}]]\n"
    tree = load(text, skills=SKILLS)
    assert one(tree, "grab is running").outcome == "refuted"
    assert one(tree, "tree is success and grab is idle").outcome == "refuted"


def test_an_entry_without_a_default_is_taken_to_be_written_first_and_the_proof_says_so() -> None:
    text = "version: 1\ntree: t\nblackboard: {b: boolean}\nroot: {fallback: [{check: b}, {check: not b}]}\n"
    result = one(load(text), "tree is failure")
    assert result.outcome == "proved" and "`b` has no default" in result.doubts[0]


def test_an_output_that_matters_is_taken_to_be_written_on_success_and_the_proof_says_so() -> None:
    text = HEAD % (NO, "") + "root:\n  sequence: [look: {seen: '{low}'}, check: low, go: {}]\n"
    result = one(load(text, skills=SKILLS), "go is running and not low")
    assert result.outcome == "proved" and "`look` is taken to write `low` only when it succeeds" in result.doubts


def test_the_command_ends_with_4_for_a_proof_that_trusts_a_skill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A class may change its outputs while it runs; a condition answers at once."""
    text = (
        "version: 1\ntree: t\nskills: [s]\nblackboard: {seen: {type: boolean, default: false, outside: false}}\n"
        "root: {sequence: [%s: {seen: '{seen}'}, {check: seen}, {wait: 1}]}\n"
    )
    kinds = "version: 1\nskills: s\nkinds:\n"
    kinds += "".join(
        f"  {name}: {{impl: s.py:{name}, outputs: {{seen: boolean}}, on_resume: repeat{more}}}\n"
        for name, more in (("look", ""), ("glance", ", instant: true"))
    )
    for name, content in (
        ("btr.yaml", "version: 1\n"),
        ("skills/s.yaml", kinds),
        ("skills/s.py", "def look(): ...\n\n\ndef glance(): ...\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "trees").mkdir()
    for skill, code in (("look", Exit.BUDGET), ("glance", Exit.SUCCESS)):
        (tmp_path / "trees" / "t.yaml").write_text(text % skill)
        assert main(["check", str(tmp_path / "trees" / "t.yaml"), "--never", "/t/2 is running and not seen"]) == code
        said = capsys.readouterr().err
        assert ("proved, if `look` writes `seen` only when it succeeds" in said) == (code is Exit.BUDGET)


@pytest.mark.parametrize(
    ("said", "code", "shown"),
    [("", Exit.BUDGET, "help: declare `low` with `outside: true`"), (YES, Exit.FAILURE, ": broken"),
     (NO, Exit.SUCCESS, ": proved (")],
)  # fmt: skip
def test_the_command_ends_with_4_for_a_proof_under_an_assumption(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    code: int,
    shown: str,
) -> None:  # fmt: skip
    """From the cache it says the same; of a folder as well."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = (AFTERWARDS % (said, "")).replace("go: {}", "wait: 1")
    (tmp_path / "t.yaml").write_text(text.replace("root:", "properties: {p: {never: low and /t/0 is running}}\nroot:"))
    for _ in range(2):
        assert main(["check", str(tmp_path / "t.yaml")]) == code
    assert shown.rstrip("(") in capsys.readouterr().err
    assert main(["check", str(tmp_path)]) == code


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_is_for_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(check_command, "EVERY", -1.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    check_command._Progress(megabytes=1e9).told(1, 1)
    assert ("states were seen" in capsys.readouterr().err) == terminal


def test_what_is_not_decided_names_the_node_that_may_do_anything() -> None:
    """A kind without a model is no agent."""
    text = "version: 1\ntree: t\nblackboard: {x: {type: list, default: [1]}}\nroot:\n  %s\n"
    each = one(load(text % "for_all: {in: '{x}', as: i, child: {fail: no}}"), "tree is success")
    assert each.outcome == "open" and "there is no model of `for_all` (/t)" in each.doubts[-1]
    agent = one(load(text % "agent: tidy up"), "tree is success")
    assert agent.outcome == "open" and "an agent may do so" in agent.doubts[-1]


def test_a_part_that_is_left_out_may_break_where_a_try_waits_for_it() -> None:
    """What fails in `do` does not matter to the property but for its breaking."""
    text = (
        HEAD % (NO, "")
        + "root:\n  try: {do: {sequence: [is_near: {}, arm: {}]}, catch: {set: {low: true}}, on: exception}\n"
    )
    assert one(load(text, skills=SKILLS), "low").outcome == "refuted"


def test_what_a_tree_has_grown_into_itself_is_put_back(tmp_path: Path) -> None:
    """Each state is explored with the nodes that it has: one round deep there is nothing of the second yet."""
    again = (
        "{if: {check: k > 0, then: {sequence: [{go: {}}, {tree: {file: r, with: {k: '{k - 1}'}}}]}, else: {arm: {}}}}"
    )
    tree = project(
        tmp_path,
        "root: {tree: {file: r, with: {k: 1}}}\n",
        r=f"inputs: {{k: {{type: integer, default: 1, minimum: 0, maximum: 9}}}}\nroot: {again}\n",
    )
    assert one(tree, "arm is running").finding is not None
    [result] = check(tree, ltl="(arm is idle) W (go is success)", properties=[])
    assert result.outcome == "proved"


@pytest.mark.parametrize("file", ["board.py", "subtree.py", "expression.py"])
def test_a_kept_proof_depends_on_the_code_of_the_engine_that_it_runs(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest that names it is another one when the checker, a node or the language has changed."""
    digest, read = check_module._code.__wrapped__, disk.read_or_nothing
    before = digest()
    monkeypatch.setattr(disk, "read_or_nothing", lambda path: b"" if path.name == file else read(path))
    assert digest() != before
