"""What is valid and hardly meant is a warning with a way out, and a name that nothing can read is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_robots.btcpp import importer
from bt_runtime import Diagnostic
from bt_runtime.language import manifest
from bt_runtime.language.checks.free_slots import free_slots
from bt_runtime.language.expression.scope import WORDS
from bt_runtime.language.fixes import applied, fixable
from bt_runtime.language.loader import Loader
from bt_runtime.run import check_file

HEAD = "version: 1\ntree: t\nblackboard: {mode: string, n: {type: integer, default: 0}}\n"


def found(root: str, head: str = HEAD) -> list[Diagnostic]:
    checked = Loader().text(f"{head}root:\n  {root}\n", "t")
    return fixable(checked.diagnostics, checked.sources)


@pytest.mark.parametrize("word", sorted(WORDS))
def test_a_port_that_no_expression_could_read_is_refused_where_it_is_declared(word: str) -> None:
    text = f"version: 1\ntree: t\ninputs:\n  '{word}': {{type: number, default: 1}}\nroot: {{log: a}}\n"
    checked = Loader().text(text, "t")
    (fault,) = [d for d in fixable(checked.diagnostics, checked.sources) if d.severity == "error"]
    assert (fault.code, fault.span and fault.span.line, fault.label) == ("BT048", 4, f"call it `{word}_`")
    made = applied(text, fault.fixes[0].edits)
    assert not [d for d in Loader().text(made).diagnostics if d.severity == "error"]


@pytest.mark.parametrize(
    "node", ["set: {class: 1}", "for_each: {in: [1], as: class, child: {log: a}}", "unset: class",
             "log: {text: a, on_success: {class: 1}}", "infer: {prompt: a, outputs: {class: boolean}}"],
)  # fmt: skip
def test_an_entry_that_no_expression_could_read_is_not_written(node: str) -> None:
    assert [d.code for d in found(node) if d.severity == "error"] == ["BT016"]


def test_an_import_calls_such_a_port_otherwise_and_what_it_writes_is_sound(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(
        '<root BTCPP_format="4" main_tree_to_execute="Main"><BehaviorTree ID="Main"><Sequence>'
        '<Script code="class := \'class\'; in := 2"/><Find class="{class}" is="{from}"/>'
        "<ScriptCondition code=\"class == 'class' &amp;&amp; in &lt; 3\"/>"
        '<SubTree ID="Sub" for="{class}" with="{in}"/></Sequence></BehaviorTree>'
        '<BehaviorTree ID="Sub"><Sequence><Say text="{for}"/><Sleep msec="{with}"/></Sequence></BehaviorTree></root>'
    )
    made = importer.load(tmp_path / "a.xml")
    for path, text in made.files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    for path in (tmp_path / "trees").iterdir():
        assert [str(d) for d in Loader(tmp_path).file(path).diagnostics if d.severity == "error"] == []
    main = made.files["trees/Main.yaml"]
    assert "set: {class_: class, in_: 2}" in main and "check: class_ == 'class' and in_ < 3" in main


@pytest.mark.parametrize(
    ("node", "quiet"),
    [
        ('set: {mode: "no"}', "a quoted word is meant"), ("set: {mode: no}", "the entry is a text"),
        ("log: 'price: {\"$\"}{n}'", "the dollar sign is a text in a hole"),
        ('log: "{{mode}} it is"', "braces in a text"),
        ('check: mode == "none"', "a text"), ("check: n == none", "a number may be compared with null"),
        ('for_each: {in: [1], as: i, child: {log: "{i}"}}', "the item is read in the loop"),
    ],
)  # fmt: skip
def test_what_may_well_be_meant_is_no_warning(node: str, quiet: str) -> None:
    doubts = ("BT021", "BT036", "BT034")
    assert not [str(d) for d in found(node) if d.code in doubts or "outside of the" in d.message], quiet


def test_an_item_of_for_all_is_missed_outside_of_its_copies() -> None:
    (fault,) = [d for d in found('sequence: [for_all: {in: [1], as: i, child: {log: "{i}"}}, log: "{i}"]')
                if "outside of the `for_all`" in d.message]  # fmt: skip
    assert "each copy has its own" in fault.message


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("look: {}", 'look: {seen: "{seen}"}'), ("look:", 'look: {seen: "{seen}"}'),
        ("look: {far: true}", 'look: {seen: "{seen}", far: true}'), ("look: true", 'look: {far: true, seen: "{seen}"}'),
        ("look:\n        far: true", 'look:\n        seen: "{seen}"\n        far: true'),
    ],
)  # fmt: skip
def test_an_output_that_is_read_and_not_taken_is_taken_by_the_fix(
    written: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("skills", "trees"):
        (tmp_path / folder).mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    params = "params: {far: {type: boolean}}, " if "true" in written else ""
    (tmp_path / "skills" / "eye.yaml").write_text(
        f"version: 1\nskills: eye\nkinds:\n  look: {{sentence: look, {params}outputs: {{seen: list}}}}\n"
    )
    text = "version: 1\ntree: t\nskills: [eye]\nroot:\n  sequence:\n    - NODE\n    - log: '{seen}'\n"
    checked = Loader(tmp_path).text(text.replace("NODE", written), "t")
    (fault,) = fixable(checked.diagnostics, checked.sources)
    made = applied(text.replace("NODE", written), fault.fixes[0].edits)
    assert made == text.replace("NODE", meant)
    assert not Loader(tmp_path).text(made, "t").diagnostics


def test_a_condition_in_a_manifest_leads_to_instant() -> None:
    read = manifest.parse("version: 1\nskills: s\nkinds:\n  near: {impl: a.py:near, condition: true}\n")
    assert "write `instant: true`, and return true or false" in [d.label for d in read.diagnostics]


def test_what_an_agent_may_write_as_it_likes_is_told(tmp_path: Path) -> None:
    """A slot with choices, a source, a form, or of a number is bounded; a skill that is not allowed, or takes more than
    its sentence says, is not looked at."""
    (tmp_path / "skills").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills" / "s.yaml").write_text(
        "version: 1\nskills: s\nimpl: a:b\nkinds:\n"
        "  put: {sentence: 'put {thing} on {where}', params: {thing: string, where: {type: string, choices: [a]}}}\n"
        "  get: {sentence: 'get {thing}', params: {thing: {type: string, from: seen}}}\n"
        "  say: {sentence: 'say {text}', params: {text: any}}\n"
        "  note: {sentence: 'note {code}', params: {code: {type: string, from: '/[A-Z]{3}/'}}}\n"
        "  keep: {sentence: 'keep {code}', params: {code: string, more: string}}\n"
    )
    text = "version: 1\ntree: t\nskills: [s]\nroot:\n  agent: {goal: g, moves: [act]ACTIONS}\n"
    for actions, slots in (("", [("put", "thing"), ("say", "text")]), (", actions: [put, get]", [("put", "thing")])):
        loader = Loader(tmp_path)
        loader.imports = False  # its Python is not looked at
        tree = loader.text(text.replace("ACTIONS", actions), folder=tmp_path).sound()
        assert list(free_slots(tree)) == slots


def test_a_mend_goes_on_until_nothing_certain_is_left() -> None:
    """A certain fix may leave a fault that has a certain fix: both are taken, and what comes out is sound."""
    text = HEAD + "root:\n  RetryUntilSuccessful:\n    num_attempts: 2\n    child: {Inverter: [check: n > 1]}\n"
    made, count = check_file.mended(text, "t", lambda each: Loader().text(each, "t"))
    assert count >= 2 and not [str(d) for d in Loader().text(made).diagnostics if d.severity == "error"], made


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("lwo and tree is running", "no entry is named `lwo`"),
        ("/t/dirve is running", "no node is at /t/dirve"),
        ("dirve is running", "no skill is named `dirve`"),
    ],
)
def test_a_property_that_asks_for_what_is_not_there_is_told(asked: str, why: str) -> None:
    """Otherwise a monitor watches a misspelt name, and no run breaks the property."""
    head = f"{HEAD}properties: {{calm: {{never: '{asked}'}}}}\n"
    (fault,) = [d for d in found("wait: {seconds: 1, name: drive}", head) if d.code == "BT070"]
    assert (fault.severity, fault.span and fault.span.line) == ("warning", 4) and why in fault.message


@pytest.mark.parametrize(
    ("asked", "root"),
    [
        ("n > 3 and /t is running", "wait: 1"),
        ("item > 3 and tree is running", "for_each: {in: [1], as: item, child: {log: '{item}'}}"),
        ("/t/0 is running", "for_all: {in: [1], as: item, child: {wait: 1}}"),
        ("/t/0/1 is running", "agent: {goal: tidy up, moves: [expand]}"),
    ],
)
def test_a_property_that_asks_for_what_is_there_or_may_come_is_quiet(asked: str, root: str) -> None:
    head = f"{HEAD}properties: {{calm: {{never: '{asked}'}}}}\n"
    assert not [d for d in found(root, head) if d.code == "BT070"]
