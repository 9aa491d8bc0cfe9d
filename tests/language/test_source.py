"""Documents: values by YAML 1.2, places of every node, and faults that are located whatever the text holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import Faults
from bt_runtime.language.source import Limits, Node, PausedCollection, Scalar, YamlList, YamlMap, parse, read

PLAN = """\
version: 1
tree: tidy_up
root:
  sequence:
    - check: battery < low   # a comment
    - go_to: {place: "room 1", speed: 0.5}
    - log: |
        two
        lines
"""


def at(node: Node) -> tuple[int, int, int, int]:
    return tuple(node.span)


def codes(text: str | bytes, **limits: int) -> list[tuple[str, int, int]]:
    found = parse(text, limits=Limits(**limits)).diagnostics
    return [(d.code, d.span.line, d.span.column) for d in found if d.span]


def child(node: Node | None, *path: str | int) -> Node:
    for step in path:
        node = node.items[step] if isinstance(node, YamlList) and isinstance(step, int) else node.get(step)  # type: ignore
    assert node is not None
    return node


def test_every_node_knows_its_place() -> None:
    root = parse(PLAN).root
    assert at(child(root, "version")) == (1, 10, 1, 11)
    assert at(child(root, "root", "sequence", 0, "check")) == (5, 14, 5, 27)
    assert at(child(root, "root", "sequence", 1, "go_to")) == (6, 14, 6, 43)
    assert at(child(root, "root", "sequence", 1, "go_to", "place")) == (6, 22, 6, 30)
    assert at(root) == (1, 1, 10, 1)  # a text of several lines ends where the next line begins


def test_a_block_ends_where_its_last_value_ends() -> None:
    root = parse("a:\n  b: 1\n  c:\n    - 2\n\n\nd: 3\n").root
    assert at(child(root, "a")) == (2, 3, 4, 8)


def test_the_end_of_a_block_is_known_without_a_walk_to_it() -> None:
    """Whoever asks every node of a deep text for its place does not walk down from each."""
    node = parse("- " * 900 + "x").sound()
    ends = {id(node.end)}
    while isinstance(node, YamlList):
        node = node.items[0]
        ends.add(id(node.end))
    assert ends == {id(node.end)}


def test_a_key_knows_its_place_and_the_order_is_that_of_the_text() -> None:
    root = parse("b: 1\na: 2\n").root
    assert isinstance(root, YamlMap)
    assert [(key.value, key.span.line, key.span.end_column) for key, _ in root] == [("b", 1, 2), ("a", 2, 2)]


def test_a_column_counts_characters_not_bytes() -> None:
    assert codes("é漢: 1\n😀: {é: 1, é: 2}\n") == [("BT006", 2, 11)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, word) for word in ("on", "off", "yes", "no", "y", "N", "ON", "tRUE", "nULL", "1_000", "12:30", "0b1")],
        *[(word, word) for word in ("2024-01-01", "--", "+", ".", "1e", "0x", "0o8", "1.2.3", "-.", "=", "<")],
        *[(word, True) for word in ("true", "True", "TRUE")],
        *[(word, False) for word in ("false", "False", "FALSE")],
        *[(word, None) for word in ("", "~", "null", "Null", "NULL")],
        *[("012", 12), ("0o14", 12), ("0xC", 12), ("+12", 12), ("-12", -12), ("1e3", 1000.0), (".5", 0.5)],
        *[("5.", 5.0), ("-1.5E-2", -0.015), (".inf", float("inf")), ("-.INF", float("-inf"))],
        *[('"1"', "1"), ("'true'", "true"), ("!!str 1", "1"), ("! 1", "1"), ("!!float 1", 1.0), ("!!int 7", 7)],
    ],
)
def test_plain_words_are_read_by_yaml_1_2(text: str, value: Any) -> None:
    document = parse(f"key: {text}\n")
    assert document.ok
    node = child(document.root, "key")
    assert isinstance(node, Scalar)
    assert (type(node.value), node.value) == (type(value), value)


def test_not_a_number_is_a_float() -> None:
    value = child(parse("key: .nan").root, "key").data()
    assert isinstance(value, float)
    assert value != value


def test_a_tag_that_does_not_fit_its_value_is_a_fault() -> None:
    assert codes("a: !!int x\nb: !!bool 1\nc: !!seq {}\nd: !!float true\ne: !!int true\n") == [
        ("BT008", n, 4) for n in (1, 2, 3, 4, 5)
    ]


def test_all_faults_of_a_text_are_found_at_once_and_in_its_order() -> None:
    text = b"a: 1\na: 2\nb: *no\nc: !x 1\n3: d\ne: \xff\nf: {g: 1, g: 2}\nh: 1e999\n<<: {}\n"
    assert [code for code, _, _ in codes(text)] == [
        "BT006",
        "BT007",
        "BT008",
        "BT009",
        "BT002",
        "BT006",
        "BT003",
        "BT010",
    ]


def test_both_places_of_a_key_given_twice_are_told() -> None:
    found = parse("a: 1\nb: 2\na: 3\n").diagnostics[0]
    assert (found.span and found.span.line, found.label) == (3, "first given on line 1")


def test_what_was_wrong_in_part_is_read_as_far_as_it_goes() -> None:
    document = parse("a: 1\na: 2\n7: x\n[k]: y\nb: !x z\n")
    assert document.root is not None
    assert document.root.data() == {"a": 1, "7": "x", "b": "z"}
    assert not document.ok
    with pytest.raises(Faults) as raised:
        document.sound()
    assert len(raised.value.diagnostics) == 4


def test_an_alias_is_the_node_that_it_names() -> None:
    root = parse("a: &x [1, {b: 2}]\nc: *x\nd: &y 3\ne: [*y]\n").root
    assert root is not None
    assert root.data() == {"a": [1, {"b": 2}], "c": [1, {"b": 2}], "d": 3, "e": [3]}
    assert child(root, "c") is child(root, "a")


def test_a_block_that_ends_in_an_alias_ends_after_it_begins() -> None:
    root = parse("a: &x 1\nb:\n  c: *x\n").root
    span = child(root, "b").span
    assert (span.line, span.column) <= (span.end_line, span.end_column)


def test_aliases_may_not_multiply_beyond_the_limit_of_nodes() -> None:
    text = "a: &a [1, 1, 1]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n"
    assert codes(text, nodes=200) == []
    assert codes(text, nodes=40) == [("BT007", 3, 9)]


def test_aliases_may_not_nest_beyond_the_limit_of_depth() -> None:
    text = "a: &a [[1]]\n" + "".join(f"b{n}: &b{n} [[*{'a' if not n else f'b{n - 1}'}]]\n" for n in range(20))
    assert codes(text, depth=45) == []
    assert [code for code, _, _ in codes(text, depth=30)] == ["BT004"]


def test_a_recursive_alias_is_a_fault_at_any_distance() -> None:
    assert codes("a: &a {b: [c, {d: *a}]}\n") == [("BT007", 1, 19)]


def test_a_misspelt_alias_is_told_the_nearest_anchor() -> None:
    assert parse("a: &kitchen 1\nb: *kichen\n").diagnostics[0].label == "did you mean `*kitchen`?"


@pytest.mark.parametrize("depth", [1, 10, 999, 1000])
def test_data_of_the_deepest_legal_document_takes_no_python_stack(depth: int) -> None:
    value = parse("[" * depth + "]" * depth).sound().data()
    for _ in range(depth - 1):
        value = value[0]
    assert value == []


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1001,
        "- " * 1001 + "x",
        "{a: " * 1001,
        "? " * 1001,
        "a:\n" * 2 and "\n".join(" " * n + "a:" for n in range(1002)),
    ],
)
def test_one_level_more_than_legal_is_a_fault(text: str) -> None:
    assert [code for code, _, _ in codes(text)] == ["BT004"]


def test_a_missing_file_is_told_the_nearest_neighbour(tmp_path: Path) -> None:
    (tmp_path / "patrol.yaml").write_text("a: 1\n")
    found = read(tmp_path / "patrl.yaml").diagnostics
    assert [(d.code, d.help) for d in found] == [("BT001", "did you mean `patrol.yaml`?")]


def test_what_is_no_readable_file_is_a_fault_and_never_blocks(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    paths = [tmp_path, pipe, "/dev/zero", tmp_path / "loop", "no\0name", tmp_path / "pipe" / "x", "x" * 5000, ""]
    assert [[d.code for d in read(path).diagnostics] for path in paths] == [["BT001"]] * len(paths)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "secret.yaml"
    path.write_text("a: 1\n")
    path.chmod(0)
    assert [d.code for d in read(path).diagnostics] == ["BT001"]


def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    assert [(d.code, d.message[:11]) for d in read(path).diagnostics] == [("BT003", "100,000,000")]


def test_a_byte_order_mark_moves_no_column() -> None:
    assert codes(b"\xef\xbb\xbfa: 1\na: 2\n") == [("BT006", 2, 1)]
    document = parse(b"\xef\xbb\xbfa: 1\n")
    assert child(document.root, "a").span.column == 4
    assert document.text == "a: 1\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_named(encoding: str) -> None:
    found = parse("version: 1\nabout: tidy\n".encode(encoding)).diagnostics
    assert [d.code for d in found] == ["BT002"]
    assert "UTF-" in found[0].message


def test_a_text_with_half_characters_is_a_fault_as_a_file_is() -> None:
    assert codes("a: \ud800\n") == [("BT002", 1, 4)]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\x85", "\u2028"])
def test_lines_are_counted_alike_in_faults_of_characters_and_of_yaml(line_break: str) -> None:
    text = line_break.join(["a: 1", "b: 2", "a: \x07"])
    assert codes(text) == [("BT006", 3, 1), ("BT002", 3, 4)]


def test_beyond_a_hundred_faults_the_rest_are_counted() -> None:
    found = parse("{" + "a: 1, " * 500 + "}").diagnostics
    assert len(found) == 100
    assert found[-1].help == "and 399 more faults below; fix these first"


def test_a_part_of_a_scalar_knows_its_place() -> None:
    root = parse("a: battery < low\nb: \"go {x}\"\nc: 'it''s {x}'\nd: >\n  {x}\n").root
    parts = {key.value: tuple(value.part(3, 6)) for key, value in root if isinstance(value, Scalar)}  # type: ignore
    assert parts["a"] == (1, 7, 1, 10)
    assert parts["b"] == (2, 8, 2, 11)
    assert parts["c"] == (3, 9, 3, 12)
    assert parts["d"][0] == 5


FOLDED = {
    "block": "a: |-\n  one\n\n    two\n  {oops}\n",
    "block, folded": "a: >+ # a comment\n\n  one\n  two  \n  {oops} x\n\n",
    "block, indented": "- - a: |2\n        one\n      {oops}\n",
    "quoted": 'a: "one\n  two\\n \\\n  \\tx\n\n  \\u2003 \\x41 {oops} d"\n',
    "quoted once": "a: 'it''s\n  one\n\n  ''{oops}'''\n",
    "plain": "a: one\n  two\n\n  {oops} x\nb: 1\n",
    "in a bracket": "[a, b\n  (oops) c]\n",
    "with an anchor": 'a: &x !!str "one\n  {oops}"\n',
    "one line, escapes": '"\\t\\"{oops}"\n',
    "other lines": "a: |\r\n  one\r\n  {oops}\r\n",
    "beyond the plane": 'a: "\\U0001F600\n  😀 {oops}"\n',
}


@pytest.mark.parametrize("text", FOLDED.values(), ids=FOLDED)
def test_a_part_of_a_text_of_several_lines_is_placed_where_it_stands(text: str) -> None:
    root: Any = parse(text).root
    while not isinstance(root, Scalar):
        root = root.items[-1] if isinstance(root, YamlList) else root.pairs[0][1]
    start = root.text.index("oops")
    lines = text.replace("\r\n", "\n").split("\n")
    line = next(n for n, each in enumerate(lines) if "oops" in each)
    column = lines[line].index("oops")
    assert tuple(root.part(start, start + 4)) == (line + 1, column + 1, line + 1, column + 5)


def test_the_collector_is_on_again_after_a_pause_and_stays_off_when_it_was() -> None:
    import gc

    with PausedCollection(), PausedCollection():
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        parse("a: 1")
        assert not gc.isenabled()
    finally:
        gc.enable()


ADVICE = {
    "\ta: b": "replace each tab by spaces",
    "a: 'b": "add the closing quote",
    "a:b\nc: d": "a key is written `a: ` and then its value",
    "- a:b\n  c: d": "a key is written `a: ` and then its value",
    "a: b: c": "quote a text with `: ` in it",
    "a: *.txt": "quote a text that begins with `*`",
    "a: %x": "put it in quotes",
    "a: [b": "close each bracket",
    "a: 'b' c": "quote the whole: ",
    "a: [": "close the bracket that was opened above",
    "a: {b": "close each bracket",
    "- a\nb: c": "begin it with `- `",
    'a: "\\q"': "use single quotes",
    "a: |x": "quote a text that begins with `|`",
    "{{a}}: b": 'such as `"{name}"`',
    "%YAML 3.0\n---\na: 1": "write `%YAML 1.2`",
    "a: 1\n...\nb": "one file holds one document",
}


@pytest.mark.parametrize(("text", "advice"), ADVICE.items())
def test_the_common_slips_are_told_a_way_out(text: str, advice: str) -> None:
    assert advice in " ".join(d.help for d in parse(text).diagnostics)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200, derandomize=True)
@given(PLAIN)
def test_what_pyyaml_writes_is_read_back_the_same(value: Any) -> None:
    text = yaml.dump(value, Dumper=yaml.CSafeDumper, allow_unicode=True)
    document = parse(text)
    if isinstance(value, dict) and "" in value:
        return
    assert [str(d) for d in document.diagnostics] == [] or text.strip() in ("null\n...", "null", "''")
    if document.root is not None:
        assert document.root.data() == value


@settings(max_examples=200, derandomize=True)
@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,6}", fullmatch=True), st.from_regex(r"[a-m]{1,9}", fullmatch=True), min_size=1
    )
)
def test_the_span_of_a_plain_scalar_cuts_its_very_text(pairs: dict[str, str]) -> None:
    text = "".join(f"{key}:   {value} # note\n" for key, value in pairs.items())
    lines = text.splitlines()
    root = parse(text).root
    assert isinstance(root, YamlMap)
    for key, value in root:
        for node in (key, value):
            span = node.span
            assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == node.text  # type: ignore[union-attr]


HUNGRY = {
    "brackets": '"[" * 4_000_000',
    "dashes": '"- " * 2_000_000',
    "braces": '"{a: " * 1_000_000',
    "values": '"[" + "{}," * 1_300_000',
    "most values": '"[" + "{}," * 399_000 + "]"',
    "keys": '"{" + "a: ," * 199_000 + "}"',
    "number keys": '"{" + "1: ," * 199_000 + "}"',
    "unknown aliases": '"[" + "*a," * 399_000 + "]"',
    "misspelt aliases": '"".join(f"a{n}: &anchor{n} 1\\n" for n in range(300)) + "b: [" + "*anchorx," * 300_000 + "]"',
    "anchors": '"".join(f"a{n}: &a{n} 1\\n" for n in range(190_000))',
    "laughs": '"a: &a [x,x,x,x,x,x,x,x,x]\\n" + "".join(laugh(*pair) for pair in zip("abcdefghijk", "bcdefghijkl"))',
    "one text": '"a: " + "x" * 3_999_000',
    "NULs": 'b"\\0" * 4_000_000',
    "no text": 'b"\\xff" * 4_000_000',
    "tabs": '"\\t" * 4_000_000',
    "tag lines": '"".join(f"%TAG !{n}! x\\n" for n in range(250_000))',
    "a single line of faults": '"a: b: c " * 499_000',
    "deep, then wide": '"[" * 999 + "0," * 300_000',
}  # fmt: skip

CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
from bt_runtime.language.source import parse, read
from bt_runtime.language.faults.format import render

def laugh(before, name):
    return f"{{name}}: &{{name}} [" + f"*{{before}}," * 9 + "]\\n"

document = parse({text})
assert all(d.span for d in document.diagnostics)
print(len(render(document.diagnostics, {{document.name: document.text}})), *[d.code for d in document.diagnostics[:1]])
"""


@pytest.mark.parametrize("name", HUNGRY)
def test_no_text_takes_more_than_256_megabytes_or_hangs(name: str) -> None:
    program = CHILD.format(text=HUNGRY[name])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-500:]


def test_reading_yaml_loads_nothing_heavy() -> None:
    heavy = {"numpy", "py_trees", "jsonschema", "json", "asyncio"}
    program = f"import sys, bt_runtime.language.source; print(*{heavy}.intersection(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


FAULTS = sorted((Path(__file__).parent / "faults" / "source").iterdir())


@pytest.mark.parametrize("path", FAULTS, ids=lambda path: path.stem)
def test_a_file_of_faults_is_told_its_code_line_and_column(path: Path) -> None:
    """Its name says which: code, line, column."""
    code, line, column = path.stem.split("-")[:3]
    found = [(d.code, d.span.line, d.span.column) for d in read(path).diagnostics if d.span]
    assert found == [(code, int(line), int(column))]


def test_there_are_faults_of_every_kind_on_file() -> None:
    assert {path.stem[:5] for path in FAULTS} == {f"BT{n:03}" for n in range(2, 12)}


def test_a_value_that_is_not_there_is_placed_at_its_key() -> None:
    """The parser points at what comes next, which may be a line that the text does not have."""
    for text in ("a:\n ? b", "a:\n ? b\n\n\n# a remark", "a:\n ? b\nc: 1\n"):
        root = parse(text, "t").root
        assert isinstance(root, YamlMap)
        (inner,) = (value for key, value in root if key.text == "a")
        assert isinstance(inner, YamlMap)
        assert [value.span.line for _, value in inner] == [2]
