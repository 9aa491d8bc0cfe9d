"""What `btr serve lsp` answers: completion, quick fixes, hover, places, renaming; whole texts, broken texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bt_author.lsp import navigate
from bt_author.lsp.complete import Suggestion, complete
from bt_author.lsp.outline import Mentions, lenses, outline
from bt_author.lsp.snippet import plain
from bt_author.lsp.text import Text
from bt_author.lsp.workspace import Workspace
from bt_runtime import BtError
from bt_runtime.language import fixes
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.language.loader import Loader
from packages.author.tests.editor.project import MAIN, marked, shown, workspace, written

HEAD = "version: 1\ntree: t\nskills: [depot]\ninputs: {speed: number}\nroot:\n"
# What only the author knows: a class, what each child is for.
UNSOUND_ALONE = {"py", "route"}
WITHOUT_BY = {"plan": "leaf: react"}  # what a kind lacks where no planner is named


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace(written(tmp_path_factory.mktemp("project")))


@pytest.fixture(autouse=True)
def here(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(space.root)
    yield
    for path in list(space.texts):
        space.closed(path)
    space.settle()


def offered(space: Workspace, text: str, name: str = "trees/main.yaml") -> dict[str, Suggestion]:
    whole, at = marked(text)
    document = shown(space, space.root / name, whole)
    return {item.label: item for item in complete(space, document, at)}


def taken(text: str, item: Suggestion) -> str:
    whole, _ = marked(text)
    return fixes.applied(whole[: item.start] + plain(item.insert) + whole[item.end :], item.also)


COMPLETED = {
    "a kind": (HEAD + "  seq|", "sequence"),
    "a kind in a list": (HEAD + "  sequence:\n    - log: a\n    - ch|\n    - log: b\n", "check"),
    "a kind in brackets": (HEAD + "  sequence: [{log: a}, {ch|", "check"),
    "a bare child": (HEAD + "  invert:\n    |", "check"),
    "a node for a test": (HEAD + "  log:\n    text: a\n    when:\n      |", "check"),
    "a case": (HEAD + "  switch:\n    on: speed\n    cases:\n      one:\n        |", "log"),
    "a field": (HEAD + "  retry:\n    times: 3\n    |", "child"),
    "a field in brackets": (HEAD + "  log: {text: a, |", "level"),
    "a field that any node has": (HEAD + "  log:\n    text: a\n    wh|", "when"),
    "a word": (HEAD + "  log: {text: a, level: |}", "warning"),
    "a skill": (HEAD + "  go|", "go_to"),
    "a parameter": (HEAD + "  go_to:\n    |", "place"),
    "a choice": (HEAD + "  look: {side: |", "left"),
    "a tree": (HEAD + "  tree: |", "part"),
    "a port": (HEAD + "  tree:\n    file: part\n    with:\n      |", "room"),
    "a port in brackets": (HEAD + "  tree: {file: part, with: {|", "room"),
    "a manifest": ("version: 1\ntree: t\nskills: [de|", "depot"),
    "a manifest in a list": ("version: 1\ntree: t\nskills:\n  - de|", "depot"),
    "an entry in a test": (HEAD + "  check: sp|", "speed"),
    "an entry in a hole": (HEAD + '  log: "at {sp|"', "speed"),
    "an entry in a test of any node": (HEAD + "  log:\n    text: a\n    when: not sp|", "speed"),
    "a function": (HEAD + "  check: le|", "len"),
    "the type of a port": (HEAD.replace("{speed: number}", "{speed: nu|}"), "number"),
    "a key of the head": ("version: 1\ntree: t\nin|", "inputs"),
    "an action": (HEAD + "  agent:\n    goal: a\n    actions: [|", "go_to"),
}


@pytest.mark.parametrize("case", COMPLETED)
def test_it_completes(case: str, space: Workspace) -> None:
    text, wanted = COMPLETED[case]
    assert wanted in offered(space, text)


def test_it_completes_manifests_and_project_files(space: Workspace) -> None:
    skill = "version: 1\nskills: more\nkinds:\n  go:\n    params:\n      place: {ty|"
    assert "type" in offered(space, skill, "skills/more.yaml")
    assert "verify" in offered(space, "version: 1\nskills: m\nkinds:\n  go:\n    on_resume: |", "skills/more.yaml")
    assert {"hz", "log"} <= offered(space, "version: 1\n|", "btr.yaml").keys()
    assert "debug" in offered(space, "version: 1\nlog: |", "btr.yaml")
    assert "world" in offered(space, "---\nversion: 1\nwo|\n---\n1. Go.\n", "guides/a.md")


def test_a_skill_of_a_manifest_that_is_not_named_brings_its_name(space: Workspace) -> None:
    text = "version: 1\ntree: t\nroot:\n  sequence:\n    - go|\n"
    made = taken(text, offered(space, text)["go_to"])
    assert "skills: [depot]" in made and not Loader(space.root).text(made, folder=space.root / "trees").diagnostics


@pytest.mark.parametrize("below", ["  |", "  sequence:\n    - log: a\n    - |", "  sequence: [{|}]"])
def test_what_is_put_in_for_a_kind_is_sound(below: str, space: Workspace) -> None:
    text = HEAD + below
    found = offered(space, text)
    assert {kind.name for kind in shipped_kinds()} | {"go_to", "look"} <= found.keys()
    for name, item in found.items():
        checked = Loader(space.root).text(taken(text, item), folder=space.root / "trees")
        errors = [d for d in checked.diagnostics if d.severity == "error"]
        assert not errors or name in UNSOUND_ALONE, (name, taken(text, item), errors)


@pytest.mark.parametrize("flow", [False, True])
def test_what_is_put_in_for_a_field_is_sound(flow: bool, space: Workspace) -> None:
    for kind in (*shipped_kinds(), *(k for k in space.manifest(space.root / "skills/depot.yaml").kinds)):
        if kind.name in UNSOUND_ALONE:
            continue
        needed = {f.name: fixes.sample(f) for f in kind.fields if f.required}
        for name in dict.fromkeys((*(f.name for f in kind.fields), "when", "on_end", "name")):
            others = [f"{k}: {v}" for k, v in needed.items() if k != name]
            if kind.one_of and name not in kind.one_of:
                one = kind.field(kind.one_of[0])
                assert one is not None
                others.append(f"{one.name}: {fixes.sample(one)}")
            if kind.name in WITHOUT_BY and name != "leaf":
                others.append(WITHOUT_BY[kind.name])
            if kind.includes:
                others = [f"file: {space.root / 'trees/part.yaml'}", "with: {room: hall}"]
                if name in ("file", "with"):
                    continue
            text = f"  {kind.name}: {{{''.join(o + ', ' for o in others)}|}}\n" if flow else (
                f"  {kind.name}:\n" + "".join(f"    {o}\n" for o in others) + "    |\n"
            )  # fmt: skip
            item = offered(space, HEAD + text)[name]
            checked = Loader(space.root).text(taken(HEAD + text, item), folder=space.root / "trees")
            errors = [d for d in checked.diagnostics if d.severity == "error" and d.code != "BT047"]
            assert not errors, (kind.name, name, taken(HEAD + text, item), errors)


def test_every_beginning_of_a_text_has_its_answers(space: Workspace) -> None:
    """Half-written YAML, with tabs and carriage returns too, is what an editor has most of the time."""
    text = MAIN.replace("go_to: {place", "retry:\n        times: 3\n        child: {go_to: {place") + "\t- 'x\n"
    for end in range(0, len(text), 5):
        for whole in (text[:end], text[:end].replace("\n", "\r\n"), text[:end] + "\n" + text[end + 40 :]):
            document = shown(space, space.root / "trees/main.yaml", whole)
            complete(space, document, min(end, len(whole)))
            navigate.hover(space, document, min(end, len(whole)))
            outline(document)


def test_a_broken_text_still_completes_the_entries_it_had(space: Workspace) -> None:
    path = space.root / "trees/main.yaml"
    shown(space, path, MAIN)
    broken, at = marked(MAIN.replace("- check: count > 0", "- check: |\n   nonsense: [") + "    }\n")
    document = shown(space, path, broken)
    assert document.spec is None
    assert {"battery", "things", "count"} <= {item.label for item in complete(space, document, at)}


# Quick fixes --------------------------------------------------------------------------------------

FIXED = {
    "a misspelt kind": ("  seqence:\n    - log: a\n", "write `sequence`"),
    "a misspelt field": ("  log: {text: a, levl: info}\n", "write `level`"),
    "a misspelt word": ("  log: {text: a, level: warnin}\n", "write `warning`"),
    "a misspelt function": ("  check: lenn(speed) > 1\n", "write `len`"),
    "a missing child": ("  retry:\n    times: 3\n", "add `child: {succeed: {}}`"),
    "a missing child in brackets": ("  retry: {times: 3}\n", "add `child: {succeed: {}}`"),
    "all fields missing": ("  retry:\n", "add `times: 1`"),
    "a node among the fields": ("  timeout:\n    seconds: 2\n    sequence:\n      - log: a\n      - log: b\n",
                                "put it below `child:`"),
    "a node among the fields in brackets": ("  timeout: {seconds: 3, sequence: [{log: a}]}\n", "put it below `child:`"),
    "a number for a text": ("  fail: 3\n", "put it in quotes"),
    "a sign that YAML keeps": ("  log: %a # why\n", "put it in quotes"),
    "a kind alone": ("  sequence:\n    - succeed\n", "write `succeed:`"),
    "a missing space": ("  log:hello\n  x: 1\n", "put a space after the colon"),
    "tabs": ("  sequence:\n\t- log: a\n\t- log: b\n", "replace each tab by spaces"),
    "an input that is not given": ("  tree: part\n", "give it: `room: \"text\"`"),
    "an input that is not given, in fields": ("  tree:\n    file: part\n", "give it: `room: \"text\"`"),
    "an input that is not given, beside another": ("  tree: {file: part, with: {found: \"{x}\"}}\n",
                                                   "give it: `room: \"text\"`"),
    "a misspelt port": ("  tree: {file: part, with: {rom: hall}}\n", "write `room`"),
    "an entry from outside": ("  check: far > 1\n", "add `far: any` to `blackboard:`"),
}  # fmt: skip


@pytest.mark.parametrize("case", FIXED)
def test_a_quick_fix_mends_its_fault(case: str, space: Workspace) -> None:
    written, title = FIXED[case]
    text = HEAD.replace("inputs: {speed: number}\n", "") + written
    checked = Loader(space.root).text(text, "t", space.root / "trees")
    faults = fixes.fixable(checked.diagnostics, checked.sources)
    fault, fix = next((d, f) for d in faults for f in d.fixes if f.title == title)
    mended = Loader(space.root).text(fixes.applied(text, fix.edits), "t", space.root / "trees").diagnostics
    assert (fault.code, fault.message) not in {(d.code, d.message) for d in mended}
    assert len([d for d in mended if d.code == "BT005"]) == 0


def test_the_fix_of_an_unnamed_manifest_names_it(space: Workspace) -> None:
    text = "version: 1\ntree: t\nroot:\n  go_to: hall\n"
    checked = Loader(space.root).text(text, "t", space.root / "trees")
    fault = fixes.fixable(checked.diagnostics, checked.sources)[0]
    assert not Loader(space.root).text(fixes.applied(text, fault.fixes[0].edits), "t", space.root).diagnostics


# Hover, places, renaming ----------------------------------------------------------------------------


def asked(space: Workspace, place: str) -> tuple[object, ...]:
    """`"go|_to"` in the main tree: the arguments of an answer."""
    word = place.replace("|", "")
    at = MAIN.index(word) + place.index("|")
    return space, shown(space, space.root / "trees/main.yaml", MAIN), at


HOVERED = {
    "che|ck": "Succeeds when an expression holds",
    "go_|to": "go to {place}",
    "batt|ery >": "number (entry)",
    'thin|gs}"}': "`look`, line 10",
    "si|de:": "one of `left`, `right`",
    "pa|rt,": "`room`: string",
    "ro|om:": "`room`: string",
    "de|pot": "manifest",
    "blackb|oard": "sensors",
}


@pytest.mark.parametrize("place", HOVERED)
def test_hover_tells(place: str, space: Workspace) -> None:
    found = navigate.hover(*asked(space, place))  # type: ignore[arg-type]
    assert found is not None and HOVERED[place] in found[0]


DEFINED = {
    "pa|rt,": [("trees/part.yaml", 1)],
    "de|pot": [("skills/depot.yaml", 1)],
    "go_|to": [("skills/depot.yaml", 4), ("skills/depot.py", 1)],
    "batt|ery >": [("trees/main.yaml", 5)],
    'thin|gs}"\n': [("trees/main.yaml", 10)],
    "ro|om:": [("trees/part.yaml", 3)],
}


@pytest.mark.parametrize("place", DEFINED)
def test_a_definition_is_found(place: str, space: Workspace) -> None:
    found = navigate.definition(*asked(space, place))  # type: ignore[arg-type]
    assert [(str(f.path.relative_to(space.root)), f.span.line) for f in found] == DEFINED[place]


def test_every_place_of_an_entry_is_found(space: Workspace) -> None:
    found = navigate.references(*asked(space, "batt|ery >"))  # type: ignore[arg-type]
    assert sorted((f.span.line, f.span.column) for f in found) == [(5, 14), (8, 14), (8, 32)]


@pytest.mark.parametrize(("place", "new", "lines"), [
    ("thin|gs}\"}", "items", {"trees/main.yaml": {10, 11}}),
    ("pla|ce: string", "goal", {"trees/main.yaml": {4, 9, 11, 12}}),
    ("ro|om:", "hall", {"trees/main.yaml": {12}, "trees/part.yaml": {3, 7}}),
    ("fou|nd:", "seen", {"trees/main.yaml": {12}, "trees/part.yaml": {4, 8}}),
    ("pa|rt,", "chamber", {"trees/main.yaml": {12}, "trees/part.yaml": {2}}),
])  # fmt: skip
def test_after_renaming_the_project_is_as_sound_as_before(
    place: str, new: str, lines: dict[str, set[int]], space: Workspace, tmp_path: Path
) -> None:
    made = navigate.rename(*asked(space, place), new)  # type: ignore[arg-type]
    assert {str(p.relative_to(space.root)): {e.span.line for e in edits} for p, edits in made.edits.items()} == lines
    copy = written(tmp_path)
    for path, edits in made.edits.items():
        other = copy / path.relative_to(space.root)
        other.write_text(fixes.applied(other.read_text(), edits))
    if made.moved:
        (copy / "trees/part.yaml").rename(copy / "trees" / made.moved[1].name)
    before = [d.code for d in Loader(space.root).file(space.root / "trees/main.yaml").diagnostics]
    assert [d.code for d in Loader(copy).file(copy / "trees/main.yaml").diagnostics] == before
    assert re.search(rf"\b{new}\b", (copy / "trees/main.yaml").read_text())


def test_a_tree_is_renamed_at_its_own_name_as_well(space: Workspace) -> None:
    made = navigate.rename(*asked(space, "tree: ma|in"), "chamber")  # type: ignore[arg-type]
    assert made.moved == (space.root / "trees/main.yaml", space.root / "trees/chamber.yaml")
    assert [edit.text for edit in made.edits[space.root / "trees/main.yaml"]] == ["chamber"]


@pytest.mark.parametrize(("place", "new", "why"), [
    ("batt|ery >", "a b", "cannot be the name"), ("batt|ery >", "place", "already"),
    ("batt|ery >", "true", "no expression could read it"),
    ("go_|to", "walk", "cannot be renamed"), ("pa|rt,", "main", "already"),
    ("pa|rt,", "a/b", "cannot be the name of a tree"), ("pa|rt,", "true", "cannot be the name of a tree"),
])  # fmt: skip
def test_what_cannot_be_renamed_is_refused_in_words(place: str, new: str, why: str, space: Workspace) -> None:
    with pytest.raises(BtError, match=why):
        navigate.rename(*asked(space, place), new)  # type: ignore[arg-type]


def test_the_outline_and_what_can_be_run(space: Workspace) -> None:
    document = asked(space, "che|ck")[1]
    top = {symbol.name: symbol for symbol in outline(document)}  # type: ignore[arg-type]
    assert [s.name for s in top["root"].below[0].below][:3] == ["check", "go_to", "look"]
    found = lenses(document, space.root, Mentions())  # type: ignore[arg-type]
    assert [(lens.title, lens.command) for lens in found] == [("run", "btr.run"), ("1 file of tests", "btr.test")]


def test_the_holes_of_a_prompt_are_checked(space: Workspace) -> None:
    document = shown(space, space.root / "trees/prompts/mine.md", 'Do \U0001f916 one of {join(moves, ", ")}\nand {goal')
    assert [(d.code, document.text.range(d.span).start) for d in space.faults(document)] == [("BT036", (1, 4))]
    assert Text("a").position(5) == (0, 1)
