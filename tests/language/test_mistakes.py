"""Mistakes of people who write trees by hand: each is told on its line, by one error, in words that lead to what was
meant. Where a program can write it, the offered fix gives a sound tree that says what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from bt_runtime import Diagnostic
from bt_runtime.language import source
from bt_runtime.language.fixes import applied, fixable
from bt_runtime.language.loader import Checked, Loader
from bt_runtime.run import check_file

SKILLS = """\
version: 1
skills: yard
kinds:
  mow: {sentence: "mow the {area}", params: {area: {type: string, choices: [lawn, meadow]}}}
  scan: {sentence: scan, outputs: {spots: list}}
  water: {sentence: "water {bed} for {litres}", params: {bed: string, litres: {type: number, minimum: 0, maximum: 9}}}
"""
DOOR = "version: 1\ntree: door\ninputs: {side: string}\nroot: {log: '{side}'}\n"
HEAD = """\
version: 1
tree: t
skills: [yard]
blackboard:
  level: {type: number, default: 1}
  phase: {type: string, default: rest}
  laps: {type: integer, default: 0}
  wet: {type: boolean, default: false}
root:
"""
TOP = HEAD.count("\n")


class Mistake(NamedTuple):
    """`line` is counted below `root:`. `meant`: the text after the fix, and "" where only the author knows it."""

    written: str
    line: int
    words: str
    meant: str = ""


M = Mistake
MISTAKES = {
    # kinds
    "a kind is misspelt": M("  sequnce:\n    - log: a\n", 1, "did you mean `sequence`?", "  sequence:\n    - log: a\n"),
    "a kind in capitals": M("  Sequence:\n    - log: a\n", 1, "`sequence`", "  sequence:\n    - log: a\n"),
    "a selector": M("  Selector: [log: a, log: b]\n", 1, "`fallback`", "  fallback: [log: a, log: b]\n"),
    "a reactive sequence of two words": M(
        "  ReactiveSequence:\n    - check: wet\n", 1, "`reactive_sequence`",
        "  reactive_sequence:\n    - check: wet\n"),
    "an inverter": M("  Inverter:\n    check: wet\n", 1, "`invert`", "  invert:\n    check: wet\n"),
    "a forced success": M("  force_success:\n    check: wet\n", 1, "with `status: success`",
                          "  force:\n    status: success\n    child:\n      check: wet\n"),
    "a forced failure in brackets": M("  ForceFailure: {log: a}\n", 1, "with `status: failure`",
                                      "  force: {status: failure, child: {log: a}}\n"),
    "running until it fails": M("  KeepRunningUntilFailure:\n    check: wet\n", 1, "`repeat` with `times: -1`",
                                "  repeat:\n    times: -1\n    child:\n      check: wet\n"),
    "attempts of another library": M(
        "  RetryUntilSuccessful:\n    num_attempts: 4\n    child: {check: wet}\n", 1, "`retry`",
        "  retry:\n    times: 4\n    child: {check: wet}\n"),
    "a subtree by its ID": M("  SubTree: {ID: slot}\n", 1, "`tree`", "  tree: {file: slot}\n"),
    "a cooldown in seconds": M("  cooldown:\n    seconds: 4\n    child: {log: a}\n", 1, "`rate` with `hz:`",
                               "  rate:\n    else: skip\n    hz: 0.25\n    child: {log: a}\n"),
    "a skill is misspelt": M("  mwo: lawn\n", 1, "did you mean `mow`?", "  mow: lawn\n"),
    # fields
    "a field is misspelt": M("  retry:\n    tmes: 2\n    child: {check: wet}\n", 2, "did you mean `times`?",
                             "  retry:\n    times: 2\n    child: {check: wet}\n"),
    "milliseconds": M("  timeout:\n    msec: 1500\n    child: {mow: lawn}\n", 2, "in seconds: `seconds: 1.5`",
                      "  timeout:\n    seconds: 1.5\n    child: {mow: lawn}\n"),
    "a threshold of another library": M(
        "  parallel:\n    success_count: 1\n    children: [log: a, log: b]\n", 2, "did you mean `success`?",
        "  parallel:\n    success: 1\n    children: [log: a, log: b]\n"),
    "a policy of another library": M(
        "  parallel:\n    policy: SuccessOnAll\n    children: [log: a, log: b]\n", 2, "`success: -1`: all must",
        "  parallel:\n    success: -1\n    children: [log: a, log: b]\n"),
    "a sequence with memory": M("  sequence:\n    memory: true\n    children: [log: a]\n", 2, "keeps its place",
                                "  sequence:\n    children: [log: a]\n"),
    "a sequence without memory": M("  sequence:\n    memory: false\n    children: [log: a]\n", 2,
                                   "write `reactive_sequence`"),
    "a duration with its unit": M("  wait: 20s\n", 1, "in seconds: `20`", "  wait: 20\n"),
    "a choice that is none": M("  mow: garden\n", 1, "`lawn`, `meadow`"),
    "a number out of bounds": M("  water: {bed: a, litres: 20}\n", 1, "takes 0 to 9"),
    "a parameter is missing": M("  water: {litres: 3}\n", 1, "lacks its field `bed`"),
    "a status in capitals": M("  force: {status: SUCCESS, child: {log: a}}\n", 1, "`success`",
                              "  force: {status: success, child: {log: a}}\n"),
    # shapes
    "two children of a decorator": M("  invert:\n    - check: wet\n    - log: a\n", 2, "takes one node",
                                     "  invert:\n    sequence:\n      - check: wet\n      - log: a\n"),
    "one child of a decorator in a list": M("  invert: [check: wet]\n", 1, "takes one node",
                                            "  invert: {check: wet}\n"),
    "a child among the fields": M("  timeout:\n    seconds: 2\n    mow: lawn\n", 3, "put it below `child:`",
                                  "  timeout:\n    seconds: 2\n    child:\n      mow: lawn\n"),
    "an empty list": M("  sequence: []\n", 1, "has no children"),
    "a list at the root": M("  - log: a\n  - log: b\n", 1, "such as `sequence:`",
                            "  sequence:\n    - log: a\n    - log: b\n"),
    "a list for one node": M("  if: {check: wet, then: [log: a, log: b]}\n", 1, "such as `sequence:`",
                             "  if: {check: wet, then: {sequence: [log: a, log: b]}}\n"),
    "children without dashes": M("  sequence:\n    children:\n      log: a\n      wait: 1\n", 3, "`- kind: ...`",
                                 "  sequence:\n    children:\n      - log: a\n      - wait: 1\n"),
    "two kinds in one item": M("  sequence:\n    - log: a\n      wait: 3\n", 3,
                               "a second node begins a line with `- `"),
    "a guard one level up": M("  sequence:\n    - log: a\n      when: wet\n", 3, "write `log: {text: a, when: wet}`"),
    "fields that are not indented": M("  sequence:\n  name: x\n", 2, "indent `name` further"),
    "a key twice": M("  sequence:\n    - log: a\n  sequence:\n    - log: b\n", 3, "keep one of the two"),
    "a name twice": M("  sequence:\n    - log: {name: a, text: x}\n    - log: {name: a, text: y}\n", 3, "on line 11"),
    "a tab": M("  sequence:\n\t  - log: a\n", 2, "replace each tab by spaces", "  sequence:\n    - log: a\n"),
    "an item between two levels": M("  sequence:\n    - fallback:\n      - log: a\n     - log: b\n", 4,
                                    "indent it otherwise"),
    "no space after the colon": M("  sequence:\n    - log:a\n", 2, "a colon and a space: `log: a`",
                                  "  sequence:\n    - log: a\n"),
    "a colon in a text": M("  log: phase: rest\n", 1, "stands in quotes", '  log: "phase: rest"\n'),
    "assigned with an equals sign": M("  set: laps = 3\n", 1, "write `{laps: 3}`", "  set: {laps: 3}\n"),
    # expressions and holes
    "one equals sign": M('  check: phase = "rest"\n', 1, "`==` compares", '  check: phase == "rest"\n'),
    "and as in C": M("  check: wet && laps > 1\n", 1, "write `and`", "  check: wet and laps > 1\n"),
    "not as in C": M("  check: !wet\n", 1, "`not wet`", "  check: not wet\n"),
    "a text without quotes": M("  check: phase == rest\n", 1, 'if it is a text: `"rest"`',
                               '  check: phase == "rest"\n'),
    "none for a text": M("  check: phase == none\n", 1, '`"none"`', '  check: phase == "none"\n'),
    "a method": M('  check: phase.startswith("r")\n', 1, "`startswith` is a function",
                  '  check: startswith(phase, "r")\n'),
    "a hole without quotes": M("  log: {phase}\n", 1, 'quote it: `log: "{phase}"`', '  log: "{phase}"\n'),
    "a hole of a shell": M('  log: "now ${phase}"\n', 1, "write `{phase}`", '  log: "now {phase}"\n'),
    "a hole of a shell without quotes": M("  log: ${phase}\n", 1, "write `{phase}`", '  log: "{phase}"\n'),
    "a hole of two braces": M('  log: "{{phase}}"\n', 1, "write `{phase}`", '  log: "{phase}"\n'),
    "a format": M('  log: "{level:.1f}"\n', 1, "`{round(level, 1)}`", '  log: "{round(level, 1)}"\n'),
    # entries and types
    "an entry is misspelt where it is read": M("  check: levl < 0.3\n", 1, "did you mean `level`?",
                                               "  check: level < 0.3\n"),
    "an entry is misspelt where it is written": M("  set: {levl: 0.3}\n", 1, "did you mean `level`?",
                                                  "  set: {level: 0.3}\n"),
    "an output that is not taken": M(
        '  sequence:\n    - scan: {}\n    - for_each: {in: "{spots}", as: s, child: {log: "{s}"}}\n', 3,
        '`scan` on line 11 gives it: `spots: "{spots}"`',
        '  sequence:\n    - scan: {spots: "{spots}"}\n    - for_each: {in: "{spots}", as: s, child: {log: "{s}"}}\n'),
    "an output as a text": M("  scan: {spots: here}\n", 1, 'as "{entry}"'),
    "the item of a loop after it": M(
        '  sequence:\n    - for_each: {in: [1], as: s, child: {log: "{s}"}}\n    - log: "{s}"\n', 3,
        "outside of the `for_each` on line 11"),
    "a sum that is not computed": M("  set: {laps: laps + 1}\n", 1, "to compute it", '  set: {laps: "{laps + 1}"}\n'),
    "a text for a number": M("  set: {laps: many}\n", 1, "takes an integer"),
    "yes": M("  set: {done: yes}\n", 1, "write `true`", "  set: {done: true}\n"),
    "off for a boolean": M("  set: {wet: off}\n", 1, "write `false`", "  set: {wet: false}\n"),
    # trees
    "a tree is misspelt": M("  tree: {file: dor, with: {side: left}}\n", 1, "did you mean `door`?",
                            "  tree: {file: door, with: {side: left}}\n"),
    "a port is misspelt": M("  tree: {file: door, with: {sde: left}}\n", 1, "did you mean `side`?",
                            "  tree: {file: door, with: {side: left}}\n"),
}  # fmt: skip
V = "version: 1\ntree: t\n"
L = "root: {log: a}\n"
HEADS = {  # of whole files, by their lines
    "a version in quotes": M(f'version: "1"\ntree: t\n{L}', 1, "write `1`", V + L),
    "a name for the tree": M(f"version: 1\nname: t\n{L}", 2, "did you mean `tree`?", V + L),
    "a description": M(f"{V}description: b\n{L}", 3, "did you mean `about`?", f"{V}about: b\n{L}"),
    "parameters": M(f"{V}params: {{a: any}}\n{L}", 3, "did you mean `inputs`?", f"{V}inputs: {{a: any}}\n{L}"),
    "variables": M(f"{V}variables: {{a: any}}\n{L}", 3, "`blackboard`?", f"{V}blackboard: {{a: any}}\n{L}"),
    "inputs in a list": M(f"{V}inputs: [a, b]\n{L}", 3, "a mapping", f"{V}inputs: {{a: any, b: any}}\n{L}"),
    "inputs with dashes": M(f"{V}inputs:\n  - a: any\n{L}", 4, "without the dashes"),
    "a value for a type": M(f"{V}blackboard: {{a: 1.5}}\n{L}", 3, "one of these types",
                            f"{V}blackboard: {{a: {{type: number, default: 1.5}}}}\n{L}"),
    "a text for a type": M(f"{V}blackboard: {{a: idle}}\n{L}", 3, "the value goes to `default:`",
                           f"{V}blackboard: {{a: {{type: string, default: idle}}}}\n{L}"),
    "a list at the root's column": M(f"{V}root:\n- log: a\n- log: b\n", 4, "such as `sequence:`",
                                     f"{V}root:\n  sequence:\n    - log: a\n    - log: b\n"),
    "an initial value": M(f"{V}blackboard: {{a: {{initial: 2}}}}\n{L}", 3, "did you mean `default`?",
                          f"{V}blackboard: {{a: {{default: 2}}}}\n{L}"),
    "an enum": M(f"{V}inputs: {{a: {{enum: [b]}}}}\n{L}", 3, "`choices`?", f"{V}inputs: {{a: {{choices: [b]}}}}\n{L}"),
    "an optional input": M(f"{V}inputs: {{a: {{required: false}}}}\n{L}", 3, "may be missing"),
    "skills as a text": M(f"{V}skills: yard\n{L}", 3, "takes a list", f"{V}skills: [yard]\n{L}"),
    "a skill among the manifests": M(f"{V}skills: [mow]\n{L}", 3, "`yard`, whose skill", f"{V}skills: [yard]\n{L}"),
}  # fmt: skip
MORE = {
    # kinds and fields
    "a cooldown on one line": M("  cooldown: {seconds: 4, child: {log: a}}\n", 1, "`rate` with `hz:`",
                                "  rate: {else: skip, hz: 0.25, child: {log: a}}\n"),
    "a field that only begins as another": M("  scan: {when_done: a}\n", 1, "its fields: spots"),
    "a guard of another library": M("  log: {text: a, if: wet}\n", 1, "`when`?", "  log: {text: a, when: wet}\n"),
    "a comment as a field": M("  log: {text: a, comment: b}\n", 1, "`about`?", "  log: {text: a, about: b}\n"),
    "attempts without end": M("  retry: {times: forever, child: {check: wet}}\n", 1, "write `-1`",
                              "  retry: {times: -1, child: {check: wet}}\n"),
    "all must succeed": M("  parallel: {success: all, children: [log: a]}\n", 1, "write `-1`",
                          "  parallel: {success: -1, children: [log: a]}\n"),
    "the inputs of a tree beside its file": M("  tree: {file: door, side: left}\n", 1, "below `with:`",
                                              "  tree: {file: door, with: {side: left}}\n"),
    "the inputs of a tree on lines": M("  tree:\n    file: door\n    side: left\n", 3, "below `with:`",
                                       "  tree:\n    file: door\n    with:\n      side: left\n"),
    "branches beside the test": M("  switch:\n    on: phase\n    rest: {log: a}\n", 3, "below `cases:`",
                                  "  switch:\n    on: phase\n    cases:\n      rest: {log: a}\n"),
    "a skill that is called": M("  mow(lawn)\n", 1, "write `mow: lawn`", "  mow: lawn\n"),
    "a skill that is called, with a colon": M("  water(a, 2):\n", 1, "`water: {bed: a, litres: 2}`"),
    "parameters in a list": M("  water: [a, 2]\n", 1, "takes its fields", "  water: {bed: a, litres: 2}\n"),
    "parameters with a comma": M("  water: a, 2\n", 1, "takes its fields", "  water: {bed: a, litres: 2}\n"),
    "a number in quotes": M('  water: {bed: a, litres: "2"}\n', 1, "write `2`", "  water: {bed: a, litres: 2}\n"),
    # shapes
    "nodes without dashes": M("  sequence:\n    log: a\n    wait:\n      seconds: 3\n", 2, "a list (`- `)",
                              "  sequence:\n    - log: a\n    - wait:\n        seconds: 3\n"),
    "nodes in braces": M("  sequence: {log: a, wait: 3}\n", 1, "a list (`- `)", "  sequence: [log: a, wait: 3]\n"),
    "dashes without a space": M("  sequence:\n    -log: a\n    -log: b\n", 2, "a dash and a space",
                                "  sequence:\n    - log: a\n    - log: b\n"),
    "equal items without a space": M("  sequence:\n    -log: a\n    -log: a\n", 2, "a dash and a space",
                                     "  sequence:\n    - log: a\n    - log: a\n"),
    "a text with an apostrophe in such quotes": M(
        "  sequence:\n    - log: 'it's on'\n", 2, 'quote the whole: `log: "it\'s on"`',
        "  sequence:\n    - log: \"it's on\"\n"),
    "no colon before the list": M("  sequence\n    - log: a\n", 1, "is a colon missing after it?",
                                  "  sequence:\n    - log: a\n"),
    "an empty item": M("  sequence:\n    - log: a\n    -\n", 3, "write a node here"),
    "the kind as a field": M("  type: sequence\n  children: [log: a]\n", 2, "write `sequence:`"),
    "a name before the kind": M("  name: b\n  sequence: [log: a]\n", 2, "`name` belongs below `sequence`"),
    "a text that begins with a number sign": M("  log: #1 is on\n", 1, "begins a comment", '  log: "#1 is on"\n'),
    "a text that begins with a hole": M("  log: {phase} is on\n", 1, "quote the whole", '  log: "{phase} is on"\n'),
    # expressions
    "greater or equal the other way round": M("  check: laps => 3\n", 1, "write `>=`", "  check: laps >= 3\n"),
    "three equals signs": M("  check: laps === 3\n", 1, "write `==`", "  check: laps == 3\n"),
    "unequal as in JavaScript": M("  check: laps !== 3\n", 1, "write `!=`", "  check: laps != 3\n"),
    "unequal as in SQL": M("  check: laps <> 3\n", 1, "write `!=`", "  check: laps != 3\n"),
    "a question mark": M('  check: "wet ? true : false"\n', 1, "`this if condition else that`"),
    "not as in C, after a word": M("  check: laps > 1 and !wet\n", 1, "write `not wet`",
                                   "  check: laps > 1 and not wet\n"),
    "and in capitals": M("  check: wet AND laps > 1\n", 1, "write `and`", "  check: wet and laps > 1\n"),
    "not in capitals": M("  check: NOT wet\n", 1, "write `not`", "  check: not wet\n"),
    "a dollar sign": M("  check: $level > 1\n", 1, "write `level`", "  check: level > 1\n"),
    "a method of a text": M("  check: phase.lower() == 'rest'\n", 1, "write `lower(phase)`",
                            "  check: lower(phase) == 'rest'\n"),
    "a bracket that is not closed": M("  check: (laps > 1\n", 1, "never closed"),
    "a percent sign after a text": M('  log: "at %s" % phase\n', 1, "may not begin with `%`"),
    "the blackboard by its name": M("  check: blackboard.level > 1\n", 1, "by its name alone"),
    # entries
    "an entry without its hole": M("  for_each: {in: laps, as: s, child: {log: '{s}'}}\n", 1, "if an entry is meant"),
    "added and assigned": M("  set: laps += 2\n", 1, "takes a mapping", "  set: {laps: '{laps + 2}'}\n"),
    "an entry and its value": M("  set: {entry: laps, value: 3}\n", 1, "to write `laps`: `{laps: 3}`",
                                "  set: {laps: 3}\n"),
    "a node where entries are written": M("  log: {text: a, on_success: {log: b}}\n", 1, "and runs no node"),
    "a text as a test": M("  check: phase\n", 1, "`phase == 'rest'` compares"),
    "an entry set to a quoted number": M('  set: {laps: "3"}\n', 1, "write `3`", "  set: {laps: 3}\n"),
}  # fmt: skip
MISTAKES |= MORE
TYPES = {"int": "integer", "float": "number", "bool": "boolean", "str": "string", "dict": "object", "array": "list"}
TYPES |= {"list<int>": "list", "string?": "string"}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("btr.yaml").write_text("version: 1\n")
    slot = "version: 1\ntree: slot\nroot: {log: a}\n"
    for path, text in (("skills/yard.yaml", SKILLS), ("trees/door.yaml", DOOR), ("trees/slot.yaml", slot)):
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text(text)


def checked(text: str) -> Checked:
    return Loader().text(text, "t.yaml", Path("trees"))


def told(text: str) -> list[Diagnostic]:
    found = checked(text)
    return fixable(found.diagnostics, found.sources)


def fixed(text: str, words: str = "") -> str:
    """The text after the first fix of the fault with these words, and then all certain ones."""
    said = [d for d in told(text) if words in f"{d.message} {d.label} {d.help}"]
    fix = next(fix for fault in said for fix in fault.fixes)
    return check_file.mended(applied(text, fix.edits), "t.yaml", checked)[0]


def written(name: str) -> Mistake:
    """The mistake of this name, in a whole file, with its line in that."""
    if name in HEADS:
        return HEADS[name]
    found = MISTAKES[name]
    return found._replace(written=HEAD + found.written, line=TOP + found.line, meant=found.meant and HEAD + found.meant)


EVERY = [*MISTAKES, *HEADS]


def test_they_are_more_than_a_hundred() -> None:
    assert len(EVERY) >= 110 and sum(bool(written(name).meant) for name in EVERY) >= 84


@pytest.mark.parametrize("name", EVERY)
def test_a_mistake_is_told_on_its_line_in_words_that_lead_to_what_was_meant(name: str) -> None:
    mistake = written(name)
    faults = [d for d in told(mistake.written) if d.span is not None and d.span.line == mistake.line]
    assert any(mistake.words in f"{d.message} {d.label} {d.help}" for d in faults), told(mistake.written)


@pytest.mark.parametrize("name", [name for name in EVERY if written(name).meant])
def test_the_fix_of_a_mistake_is_sound_and_says_what_was_meant(name: str) -> None:
    mistake = written(name)
    made = fixed(mistake.written, mistake.words)
    assert source.parse(made).sound().data() == source.parse(mistake.meant).sound().data(), made
    assert not [str(d) for d in checked(made).diagnostics if d.severity == "error"]


@pytest.mark.parametrize("name", EVERY)
def test_one_mistake_is_one_error(name: str) -> None:
    errors = [str(d) for d in told(written(name).written) if d.severity == "error"]
    assert len(errors) <= 1, errors


@pytest.mark.parametrize("name", EVERY)
def test_certain_fixes_of_a_mistake_leave_no_new_error(name: str) -> None:
    mistake = written(name)
    made = check_file.mended(mistake.written, "t.yaml", checked)[0]
    errors = [str(d) for d in checked(made).diagnostics if d.severity == "error"]
    assert made == mistake.written or not errors, made


@pytest.mark.parametrize("word", TYPES)
def test_a_type_of_another_language_leads_to_ours(word: str) -> None:
    text = "version: 1\ntree: t\ninputs: {a: %s}\nroot: {log: '{a}'}\n"
    assert fixed(text % word) == text % TYPES[word]
