"""Trees of BehaviorTree.CPP become projects, and go back."""

from __future__ import annotations

import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bt_robots.btcpp import document, exporter, importer, script
from bt_robots.imports.project import Imported
from bt_robots.imports.report import CannotSay
from bt_runtime import BtError
from bt_runtime.language.loader import Loader
from bt_runtime.types import Json

NAV2 = sorted((Path(__file__).parent / "nav2").glob("*.xml"))


def imported(folder: Path, body: str, models: str = "", root: str = 'BTCPP_format="4"', **more: Json) -> Imported:
    """A tree `T` of this body, written as a project."""
    folder.mkdir(parents=True, exist_ok=True)
    text = f'<root {root}>\n<BehaviorTree ID="T">\n{body}\n</BehaviorTree>\n{models}</root>'
    (folder / "robot.xml").write_text(text, encoding="utf-8")
    return kept(importer.load(folder / "robot.xml", **more), folder)


def kept(got: Imported, folder: Path) -> Imported:
    for name, text in got.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return got


def root_of(got: Imported, tree: str = "T") -> str:
    """What stands below `root:`, without its indentation."""
    lines = got.files[f"trees/{tree}.yaml"].partition("root:\n")[2].splitlines()
    return "\n".join(line[2:] for line in lines)


def sound(got: Imported, folder: Path) -> str:
    """As XML again; the tree is whole."""
    checked = Loader(folder).file(folder / "trees" / f"{got.main}.yaml")
    assert [str(d) for d in checked.diagnostics if d.severity == "error"] == []
    return exporter.text(checked.sound())


BECOMES = {
    "<Sequence><AlwaysSuccess/><AlwaysFailure/></Sequence>": "sequence:\n  - succeed:\n  - fail:",
    "<AsyncSequence><AlwaysSuccess/></AsyncSequence>": "sequence:\n  yield: true\n  children:\n    - succeed:",
    '<Sleep msec="1500"/>': "wait: 1.5",
    '<Sleep msec="{ms}"/>': 'wait: "{ms / 1000}"',
    '<RetryUntilSuccessful num_attempts="{n}"><AlwaysSuccess/></RetryUntilSuccessful>':
        'retry:\n  times: "{n}"\n  child:\n    succeed:',
    "<KeepRunningUntilFailure><AlwaysFailure/></KeepRunningUntilFailure>": "invert:\n  until_failure:\n    fail:",
    '<Script code="a := 1; b := a + 1; a += 2"/>': "set: {b: 2, a: 3}",
    '<ScriptCondition code="!(x &gt; 1) &amp;&amp; y == \'k\'"/>': "check: x <= 1 and y == 'k'",
    '<SetBlackboard value="4" output_key="{n}"/>': "set: {n: 4}",
    '<SetBlackboard value="{m}" output_key="n"/>': 'set: {n: "{m}"}',
    '<AlwaysSuccess _skipIf="a" _while="b" _onHalted="c := 1"/>':
        'precondition:\n  if: not a\n  else: skip\n  child:\n    succeed:\n      when: b\n      on_halt: {c: 1}',
    '<LoopInt queue="1;2" value="{i}"><AlwaysSuccess/></LoopInt>':
        "for_each:\n  in: [1, 2]\n  as: i\n  child:\n    succeed:",
    '<IfThenElse><ScriptCondition code="a"/><AlwaysSuccess/></IfThenElse>': "if:\n  check: a\n  then:\n    succeed:",
    '<WaitValueUpdate entry="{a}"><AlwaysSuccess/></WaitValueUpdate>':
        "precondition:\n  if:\n    check: {updated: a}\n  else: running\n  child:\n    succeed:",
    "<RunOnce><AlwaysSuccess/></RunOnce>": "once:\n  then: skip\n  child:\n    succeed:",
}  # fmt: skip


@pytest.mark.parametrize("xml", BECOMES)
def test_a_node_becomes_what_a_person_would_write_and_goes_back(xml: str, tmp_path: Path) -> None:
    got = imported(tmp_path / "a", xml)
    assert root_of(got) == BECOMES[xml]
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "robot.xml").write_text(sound(got, tmp_path / "a"))
    assert importer.load(tmp_path / "b" / "robot.xml").files == got.files


def test_enums_are_the_numbers_that_were_said(tmp_path: Path) -> None:
    switch = (
        '<Switch2 variable="{v}" case_1="RED" case_2="2"><AlwaysSuccess/><AlwaysFailure/><AlwaysFailure/></Switch2>'
    )
    body = f'<Sequence><ScriptCondition code="v == RED"/>{switch}</Sequence>'
    got = imported(tmp_path, body, enums=dict([importer.enum("RED=1")]))
    assert "check: v == 1" in root_of(got)
    assert '"1":' in root_of(got)
    with pytest.raises(BtError, match="no word of an enum"):
        importer.enum("RED")


def test_nothing_is_dropped_silently(tmp_path: Path) -> None:
    """Each element has its row, with its place; so has each attribute and text that nobody reads."""
    body = """<Sequence odd="1">
      words
      <Script code="a := 6 &amp; 3"/>
      <Strange><AlwaysSuccess/><AlwaysSuccess/></Strange>
      <AlwaysSuccess _skipIf="@outer == 1"/>
      <SubTree ID="None"/>
    </Sequence>"""
    got = imported(tmp_path, body, '<TreeNodesModel><Control ID="Unused"/></TreeNodesModel><Odd/>')
    name = str(tmp_path / "robot.xml")
    lost = {(str(row.place).removeprefix(name), row.what) for row in got.report.lost}
    assert lost == {
        (":3:1", "text in <Sequence>"), (":3:11", "`odd` of <Sequence>"), (":5:7", "<Script>"), (":6:7", "<Strange>"),
        (":11:56", "<Odd>"),
    }  # fmt: skip
    states = {(str(row.place).removeprefix(name), row.state) for row in got.report.rows}
    assert {(":8:7", "changed"), (":11:17", "aside")} <= states
    told = {str(row.place).removeprefix(name) for row in got.report.rows}
    for element in document.read(tmp_path / "robot.xml").walk():
        if element.tag != "TreeNodesModel":
            assert str(element.place).removeprefix(name) in told, element.tag
    assert "# lost: <Script>: bits: `&`" in root_of(got)
    sound(got, tmp_path)


def test_comments_are_kept_above_what_they_were_written_to(tmp_path: Path) -> None:
    got = imported(tmp_path, "<!-- go -->\n<Sequence><!-- first,\n then --><AlwaysSuccess/><!-- end --></Sequence>")
    assert root_of(got) == "# go\n# end\nsequence:\n  # first,\n  # then\n  - succeed:"
    assert "<!-- first, -->" in sound(got, tmp_path)


def test_a_model_gives_types_directions_and_defaults(tmp_path: Path) -> None:
    model = """<TreeNodesModel><Action ID="Grab">
      <input_port name="what" type="std::string" default="cup">A thing.</input_port>
      <input_port name="pose" type="Pose2D" default="{here}"/><output_port name="force" type="double"/>
      <inout_port name="count" type="int"/><input_port name="when" type="bool"/></Action></TreeNodesModel>"""
    got = imported(tmp_path, '<Grab force="{f}" count="{c}" when="true"/>', model)
    assert root_of(got) == 'Grab:\n  pose: "{here}"\n  count: "{c}"\n  when_: true\n  force: "{f}"\n  count_out: "{c}"'
    manifest = got.files["skills/robot.yaml"]
    for line in ("what: {type: string, about: A thing., default: cup}", "about: C++ type Pose2D", "when_: boolean",
                 "outputs: {force: number, count_out: integer}"):  # fmt: skip
        assert line in manifest
    xml = sound(got, tmp_path)
    for line in ('<inout_port name="count" type="int" />', '<output_port name="force" type="double" />',
                 'name="pose" type="Pose2D"', 'default="cup">A thing.</input_port>'):  # fmt: skip
        assert line in xml


def test_a_subtree_has_the_ports_that_are_handed_to_it(tmp_path: Path) -> None:
    """What it writes is an output; a value for one gets an entry first; a literal is a value."""
    body = '<Sequence><ScriptCondition code="a &gt; 0"/><Script code="n += a"/></Sequence>'
    inner = f'<BehaviorTree ID="In">{body}</BehaviorTree>'
    got = imported(
        tmp_path, '<Sequence><SubTree ID="In" a="{x}" n="{y}"/><SubTree ID="In" a="2" n="5"/></Sequence>', inner
    )
    assert "inputs: {a: any}\noutputs: {n: any}" in got.files["trees/In.yaml"]
    assert 'with: {a: "{x}", n: "{y}"}' in root_of(got)
    assert "- set: {In_n: 5}" in root_of(got)
    assert 'with: {a: 2, n: "{In_n}"}' in root_of(got)
    sound(got, tmp_path)


def test_version_3_names_entries_without_braces(tmp_path: Path) -> None:
    inner = '<BehaviorTree ID="In"><Parallel success_threshold="1" failure_threshold="2"><AlwaysSuccess/>' \
        "<SequenceStar><AlwaysSuccess/></SequenceStar></Parallel></BehaviorTree>"  # fmt: skip
    body = '<Sequence><SubTree ID="In" goal="target"/><SubTreePlus ID="In" __autoremap="1" goal="home"/></Sequence>'
    got = imported(tmp_path, body, inner, root='main_tree_to_execute="T"')
    assert 'with: {goal: "{target}"}' in root_of(got)
    assert "with: {goal: home}" in root_of(got)
    assert "autoremap: true" in root_of(got)
    assert "success: 1" in root_of(got, "In")
    assert "sequence_with_memory" in root_of(got, "In")


def test_included_files_are_read_and_none_from_outside(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.xml").write_text('<root BTCPP_format="4"><include path="../a.xml"/>'
                                           '<BehaviorTree ID="B"><AlwaysSuccess/></BehaviorTree></root>')  # fmt: skip
    whole = '<root BTCPP_format="4" main_tree_to_execute="A"><include path="{}"/><BehaviorTree ID="A">' \
        '<SubTree ID="B"/></BehaviorTree></root>'  # fmt: skip
    (tmp_path / "a.xml").write_text(whole.format("sub/b.xml"))
    got = importer.load(tmp_path / "a.xml")
    assert {"trees/A.yaml", "trees/B.yaml"} <= got.files.keys()
    (tmp_path / "sub" / "c.xml").write_text(whole.format("../a.xml"))
    with pytest.raises(BtError, match=r"c.xml:1:\d+: <include path=\"../a.xml\"> leads out of"):
        importer.load(tmp_path / "sub" / "c.xml")


BOMB = '<!DOCTYPE a [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;">]><root>&b;</root>'
HOSTILE = {
    "entities": (BOMB, "a DOCTYPE"),
    "external": ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><root/>', "a DOCTYPE"),
    "deep": ("<root>" + "<Sequence>" * 5000, "more than 256 deep"),
    "many": ("<root>" + "<a/>" * 60_000 + "</root>", "more than 50,000 elements"),
    "huge": ("<root>" + " " * 4_000_001 + "</root>", "more than 4,000,000 bytes"),
    "cut off": ('<root BTCPP_format="4"><BehaviorTree ID="A">', r"robot.xml:1:\d+: this is no well-formed XML"),
    "no tree": ('<root BTCPP_format="4"/>', "no <BehaviorTree>"),
    "another thing": ("<html/>", "begins with <root>"),
    "encoding": ('<?xml version="1.0" encoding="klingon"?><root/>', "no XML that can be read"),
    "attributes": ("<root " + " ".join(f'a{n}="1"' for n in range(300)) + "/>", "more than 200 attributes"),
    "twice": ('<root><BehaviorTree ID="A"/><BehaviorTree ID="A"/></root>', "a second tree"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_xml_is_a_fault_in_words(case: str, tmp_path: Path) -> None:
    text, said = HOSTILE[case]
    (tmp_path / "robot.xml").write_text(text)
    with pytest.raises(BtError, match=said):
        importer.load(tmp_path / "robot.xml")


def test_spoilt_xml_never_ends_in_a_traceback(tmp_path: Path) -> None:
    """Bytes of a right file turned, lost and doubled: a project whose trees can be read, or a fault."""
    whole, rng, ends = NAV2[4].read_bytes(), random.Random(7), [0, 0]
    for _ in range(150):
        spoilt = bytearray(whole)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(spoilt))
            spoilt[at : at + rng.randint(0, 3)] = rng.choice(
                (b"", b"<", b'"', b"{", b"&&", b" _while=", b"/>", b"\xc3", b'="@x"')
            )
        (tmp_path / "robot.xml").write_bytes(spoilt)
        try:
            got = importer.load(tmp_path / "robot.xml")
            kept(got, tmp_path)
            Loader(tmp_path).file(tmp_path / "trees" / f"{got.main}.yaml")
            ends[0] += 1
        except BtError:
            ends[1] += 1
    assert min(ends) > 5


def test_a_script_that_grows_without_end_is_refused() -> None:
    with pytest.raises(CannotSay, match="put together"):
        script.read("a := 1; " + "a := a + a; " * 40)
    for hostile in ("(" * 900, "!" * 900 + "a", "a ? " * 300, "1 +" * 900, "a" * 5000, "'", "a := b := 1", "☃"):
        with pytest.raises(CannotSay):
            script.read(hostile)


REFUSED = {
    "sequence: [succeed: {}, for_all: {in: [1], as: x, child: {succeed: {}}}]": "`for_all` has no words",
    "check: len(x) > 1": "has no words in XML of BehaviorTree.CPP: `len(x)`",
    'set: {a: "at {b}"}': "a text with holes in it",
    'set: {a: "{b}", b: "{a}"}': "its values read what the others write",
    "wait: {until: a}": "Sleep has no `until`",
    "rate: {hz: 1, child: {succeed: {}}}": "else: running",
    "parallel: {order: in_turn, children: [succeed: {}]}": "in_turn",
    "wait: 0.0001": "a part of a millisecond",
    "wait: .inf": "a time without end",
    'for_each: {in: "{x}", as: y, empty: failure, child: {succeed: {}}}': "its result after the last item as well",
    'for_each: {in: "{x}", as: a, empty: skip, child: {succeed: {}}}': "its result after the last item as well",
    'for_each: {in: "{x}", as: n, child: {succeed: {}}}': "holds texts there, and `n` takes an integer",
}


@pytest.mark.parametrize("node", REFUSED)
def test_what_xml_cannot_say_is_refused_with_its_place(node: str) -> None:
    tree = (
        Loader()
        .text(f"version: 1\ntree: t\nblackboard: {{x: list, b: any, a: any, n: integer}}\nroot:\n  {node}\n", "t.yaml")
        .sound()
    )
    with pytest.raises(BtError) as told:
        exporter.text(tree)
    assert REFUSED[node] in str(told.value)
    assert str(told.value).startswith("t.yaml:5:")


@pytest.mark.parametrize(("text", "written"), [("5", "5"), ("true", "true"), ("[1, a]", 'json:[1, "a"]'),
                                               ("1.5", "1.5"), ("a {b}", "a {b}")])  # fmt: skip
def test_a_log_of_what_is_no_text_is_exported_as_text(text: str, written: str) -> None:
    tree = Loader().text(f"version: 1\ntree: t\nblackboard: {{b: any}}\nroot:\n  log: {text}\n", "t.yaml").sound()
    log = ElementTree.fromstring(exporter.text(tree)).find(".//Log")
    assert log is not None and log.get("text") == written


MANY = """version: 1
tree: t
blackboard: {n: {type: integer, default: 3}, x: {type: list, default: [1]}}
root:
  sequence:
    - wait: {until: n > 1}
    - retry:
        times: "{n + 1}"
        child:
          sequence: [rate: {hz: 1, child: {succeed: {}}}, wait: 1]
    - succeed: {}
"""


def test_an_export_lists_all_that_xml_has_no_words_for_at_once() -> None:
    with pytest.raises(BtError) as told:
        exporter.text(Loader().text(MANY, "t.yaml").sound())
    assert [line.partition(": ")[0] for line in told.value.message.splitlines()] == [
        "t.yaml:3:46", "t.yaml:6:7", "t.yaml:7:7", "t.yaml:10:22",
    ]  # fmt: skip
    assert "--for-viewing" in told.value.hint


def test_an_export_for_viewing_has_stand_ins_where_xml_has_no_words() -> None:
    text, lost = exporter.for_viewing(Loader().text(MANY, "t.yaml").sound())
    root = ElementTree.fromstring(text)
    assert len(lost) == 4 and "for viewing only" in text
    body = root.find("BehaviorTree")
    assert body is not None
    assert [each.tag for each in body.iter()][1:] == [
        "Sequence", "RunOnce", "Script", "Sequence", "wait", "retry", "Sequence", "rate", "AlwaysSuccess", "Sleep",
        "AlwaysSuccess",
    ]  # fmt: skip
    models = {(each.tag, each.get("ID")) for each in root.iterfind("TreeNodesModel/*")}
    assert {("Action", "wait"), ("Decorator", "retry"), ("Decorator", "rate")} <= models


def test_a_tree_that_contains_itself_is_exported(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("version: 1\ntree: t\nroot:\n  fallback: [wait: 1, tree: t]\n")
    tree = Loader().file(tmp_path / "t.yaml").sound()
    assert exporter.text(tree).count("<BehaviorTree ") == 1


def test_an_export_for_viewing_of_what_xml_has_words_for_is_the_export() -> None:
    tree = Loader().text("version: 1\ntree: t\nroot: {wait: 1}\n", "t.yaml").sound()
    assert exporter.for_viewing(tree) == (exporter.text(tree), [])


# Nav2 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NAV2, ids=lambda path: path.stem)
def test_a_tree_like_those_of_nav2_is_imported_whole_and_comes_back_the_same(path: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    got = kept(importer.load(path, ["nav2"]), one)
    assert not got.report.lost
    two.mkdir()
    (two / path.name).write_text(sound(got, one))
    assert importer.load(two / path.name).files == got.files


RAW = {
    '_skipIf="1<2 && 2>1"': {"_skipIf": "1<2 && 2>1"},
    "a='x & y' b=\"<&lt;&#65;&amp;\"": {"a": "x & y", "b": "<<A&"},
    'a="&unknown;"': {"a": "&unknown;"},
}


@pytest.mark.parametrize("attributes", RAW)
def test_raw_signs_in_an_attribute_are_read_as_they_stand(attributes: str) -> None:
    """Comments and CDATA stay as they are, and each attribute keeps its place."""
    text = f'<?xml version="1.0"?>\n<root><!-- a < b && c="1<2" --><é n="1" {attributes} last="é"/></root>'
    (element,) = document.parse(text).children
    assert element.attributes == {"n": "1", **RAW[attributes], "last": "é"}
    assert element.comments == ['a < b && c="1<2"']
    line = text.splitlines()[1]
    assert [p.column for p in element.places.values()] == [line.index(f" {n}=") + 2 for n in element.attributes]


def test_raw_signs_elsewhere_are_faults_with_a_place() -> None:
    for text in ("<root>a & b</root>", "<root><a", '<root a="1" b="<', "<root a=1 b='<'/>"):
        with pytest.raises(BtError, match=r"tree.xml:1:\d+: this is no well-formed XML"):
            document.parse(text)
    with pytest.raises(BtError, match="DOCTYPE"):
        document.parse('<!DOCTYPE r [<!ENTITY a "b">]><root a="&a;" b="<"/>')


def test_spoilt_xml_of_raw_signs_is_read_in_linear_time() -> None:
    """Counted in steps of the expression: four megabytes end at all."""
    for text in ('<a b="' * 600_000, "<a b='<' " * 400_000, "<!--" * 900_000, "<a " + 'b="&" ' * 600_000):
        with pytest.raises(BtError):
            document.parse(text)
