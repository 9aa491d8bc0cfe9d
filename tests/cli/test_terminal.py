"""Whatever stands in a file, a model's answer, a journal or an argument: no command prints what a terminal obeys."""

from __future__ import annotations

import argparse
import io
import json
import re
from pathlib import Path

import pytest

from bt_runtime import Run, load, skill
from bt_runtime.cli import COMMANDS
from bt_runtime.cli.color import GREEN, PLAIN
from bt_runtime.cli.terminal import EscapingStream, escaped, guarded, json_text, raw
from bt_runtime.language.faults.format import printed, visible
from bt_runtime.memory.experience import Experience

CODES = [
    "\x1b", "\x1b[31m", "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1b]52;c;AAAA\x07",
    "\x1bP1$r\x1b\\", "\x9b31m", "\x9d52;c;A\x9c", "\x85", "\x7f", "\x00", "\r", "\x08", "\x0b", "\x0c", "\u202e",
    "\u2066", "\u200f", "\u2028", "\ufeff", "\U000e0041",
]  # fmt: skip
LONE = "\udc9b"
HOSTILE = "a" + "b".join(CODES) + "z"
OBEYED = re.compile(r"[^\n\t]")


def obeyed(text: str) -> set[str]:
    """What of a text is neither a letter that prints nor a line break."""
    return {c for c in OBEYED.findall(text) if not c.isprintable()}


def quoted(text: str) -> str:
    """As YAML: every character can be written as an escape."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08X}" for c in text) + '"'


@pytest.fixture
def hostile(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose tree, manifest, plan, settings, memory and journal are full of them."""
    from bt_runtime.memory import Episodes

    for folder in ("trees", "skills", "guides"):
        (here / folder).mkdir()
    (here / "btr.yaml").write_text(f"version: 1\nmodel: {quoted(HOSTILE)}\nlog: debug\n")
    text = quoted(HOSTILE)
    (here / "trees" / "t.yaml").write_text(
        f"version: 1\ntree: t\nabout: {text}\noutputs: {{y: string}}\n"
        f"root:\n  sequence:\n    - log: {text}\n    - set: {{y: {text}}}\n    - fail: {text}\n"
    )
    (here / "trees" / "bad.yaml").write_text(f"version: 1\ntree: {text}\nroot:\n  {text}: 1\n")
    (here / "skills" / "s.yaml").write_text(
        f"version: 1\nskills: s\nkinds:\n  go: {{sentence: {text}, needs: [{text}], oops: {text}}}\n"
    )
    (here / "guides" / "p.md").write_bytes(f"---\nversion: 1\n{HOSTILE}: x\n---\n{HOSTILE}\n".encode())

    @skill(f"say {HOSTILE}")
    def say() -> bool:
        raise ValueError(HOSTILE)

    tree = f"version: 1\ntree: j\nroot:\n  sequence: [log: {text}, say: {{}}]\n"
    with Run(load(tree, skills=[say]), journal=here / "runs", inputs={}) as run:
        run.spin()
        run.halt(HOSTILE)
    with Episodes.open(here / "memory.sqlite") as memory:
        memory.add([Experience(HOSTILE, HOSTILE, "success", namespace=HOSTILE, kind=HOSTILE, verdict=True)])
    monkeypatch.setenv("BTR_MEMORY", str(here / "memory.sqlite"))
    return here


ARGUMENT = HOSTILE.replace("\0", "")  # no argument of a process holds that one
WORDS: dict[str, list[list[str]]] = {
    "init": [[ARGUMENT[:60]], ["--example", ARGUMENT]],
    "validate": [*(["--output-format", form] for form in ("full", "concise", "github", "json")), [ARGUMENT]],
    "run": [["t"], ["t", "--json"], ["t", "--log", "debug", "--color", "always"], ["bad"], [ARGUMENT],
            ["t", "--set", ARGUMENT]],
    "view prompt": [["react", "--env", "house", "--set", f"goal={ARGUMENT}"],
               ["react", "--env", "house", "--set", f"goal={ARGUMENT}", "--json"]],
    "demo": [["--model", ARGUMENT]],
    "lab play": [[ARGUMENT], ["house", "--kind", ARGUMENT]],
    "lab tasks": [[ARGUMENT], ["house", "--kind", ARGUMENT]],
    "lab eval": [[ARGUMENT], ["house", "--strategy", ARGUMENT], ["show", ARGUMENT]],
    "lab optimise": [[ARGUMENT], ["house", "--strategy", ARGUMENT]],
    "memory": [["list"], ["list", "--json"], ["show", "UID"], ["show", "UID", "--json"], ["search", "ab"],
               ["search", "ab", "--json"], ["why", "ab"], ["why", ARGUMENT, "--json"], ["stats"], ["stats", "--json"],
               ["export", "-"], ["export"]],
    "view": [["last", "-o", "page.html"], [ARGUMENT]],
    "view top": [["last", "--once"], ["last", "--json"], [ARGUMENT], ["http://" + ARGUMENT + "#x"]],
    "runs": [["list"], ["list", "--json"], ["show", "last"], ["show", "last", "--json"], ["diff", "last", "last"],
             ["show", ARGUMENT], ["export", "last"]],
    "runs resume": [["last"], [ARGUMENT]],
    "runs replay": [["last"], ["last", "--json"], [ARGUMENT]],
    "lab distill": [["--from", ARGUMENT, "--out", "x.gguf"]],
    "lab finetune": [["--base", ARGUMENT, "--from", ARGUMENT, "--out", "x.gguf", "--tokens", "1"]],
    "view render": [["t"], ["t", "--format", "svg"], ["t", "--format", "dot"], ["t", "--format", "mermaid"], ["bad"]],
    "import": [[ARGUMENT, "--out", "x"]],
    "export": [["t"], [ARGUMENT]],
    "config schema": [["--one", "tree"], ["--one", ARGUMENT]],
    "explain": [[ARGUMENT]],
    "lab": [[ARGUMENT]],
    "serve": [[ARGUMENT]],
    "runs why": [["last", "/t"], ["last", "/t", "--json"], ["last", ARGUMENT], [ARGUMENT, "/t"]],
    "attach": [[ARGUMENT], [ARGUMENT, "-c", ARGUMENT]],
    "fmt": [["t.yaml", "--check"], [ARGUMENT]],
    "serve lsp": [["--help"]],
    "edit": [[ARGUMENT]],
    "plan": [[ARGUMENT], [ARGUMENT, "--skills", ARGUMENT]],
    "runs fork": [["last", "--at", "1"], [ARGUMENT, "--at", ARGUMENT]],
    "serve mcp": [["--help"], [ARGUMENT]],
    "runs compile": [[ARGUMENT], [ARGUMENT, "--out", "x.yaml"]],
    "view diff": [["t", "bad"], [ARGUMENT, ARGUMENT]],
    "skills": [["suggest", ARGUMENT], ["suggest", "bad.yaml"], ["suggest", "--json"]],
    "new": [["skill", ARGUMENT], ["tree", ARGUMENT], ["test", ARGUMENT]],
    "fuzz": [["t", "--never", ARGUMENT], [ARGUMENT]],
    "check": [["t", "--never", ARGUMENT], [ARGUMENT]],
    "fleet": [["send", ARGUMENT, "--to", ARGUMENT], ["ls", "--server", ARGUMENT], ["join", "--robot", ARGUMENT]],
    "trust": [[ARGUMENT], ["--list"], ["--remove", ARGUMENT]],
    "config": [[], ["--json"], ["model"], [ARGUMENT]],
    "doctor": [[ARGUMENT]],
    "config completion": [[ARGUMENT], ["bash"]],
}  # fmt: skip


def test_every_command_is_tried_here() -> None:
    assert WORDS.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", sorted(WORDS))
def test_no_command_prints_what_a_terminal_obeys(command, hostile, btr, monkeypatch) -> None:
    """On both streams, in every form; JSON stays JSON. A colour that was asked for is ours, and nothing else is."""
    monkeypatch.chdir(hostile)
    uid = json.loads(btr("memory", "list", "--json").out)[0]["id"] if command == "memory" else ""
    for words in WORDS[command]:
        said = btr(command, *(uid if word == "UID" else word for word in words))
        tones = re.compile("\x1b\\[[0-9;]*m" if "always" in words else "(?!)")
        assert obeyed(tones.sub("", said.out + said.err)) == set(), words
        assert "internal error" not in said.err, (words, said.err)
        if "--json" in words and said.code == 0 and words[0] != "show":
            json.loads(said.out)


def test_a_fault_of_a_tree_shows_the_line_as_text(hostile, btr, monkeypatch) -> None:
    monkeypatch.chdir(hostile)
    (hostile / "raw.yaml").write_bytes(b"version: 1\ntree: t\nroot:\n  log: \xc2\x9b31m\xe2\x80\xae\x7f oops: x\n")
    said = btr("validate", "raw.yaml")
    assert said.code == 1 and obeyed(said.out + said.err) == set()


def test_a_lone_surrogate_and_a_broken_byte_are_shown_as_numbers() -> None:
    assert printed(f"a{LONE}b\n\tc") == "a<U+DC9B>b\n\tc"
    assert json.loads(escaped(json.dumps({"a": HOSTILE + LONE}, ensure_ascii=False))) == {"a": HOSTILE + LONE}
    assert json.loads(json_text([HOSTILE, "é漢"], indent=1)) == [HOSTILE, "é漢"]
    assert "é漢" in json_text("é漢")


def test_our_own_colours_pass_only_where_colours_are_wanted() -> None:
    """And nothing but colours: what moves, names or copies is text in either case."""
    painted, plain = f"{GREEN}ok{PLAIN}", f"{visible(GREEN)}ok{visible(PLAIN)}"
    for tones, wanted in ((True, f"{painted}<U+001B>[2J"), (False, f"{plain}<U+001B>[2J")):
        stream = io.StringIO()
        EscapingStream(stream, tones).write(f"{GREEN}ok{PLAIN}\x1b[2J")
        assert stream.getvalue() == wanted


def test_the_door_is_there_for_whatever_is_printed_and_gone_afterwards(btr, monkeypatch) -> None:
    """What a skill or a library prints passes it too; a program that calls a command gets its streams back."""
    import sys

    monkeypatch.setitem(COMMANDS, "config", ("", "loud"))
    loud = argparse.Namespace(configure=lambda parser: None, run=lambda args: print("\x1b]0;x\x07") or 0)
    monkeypatch.setitem(sys.modules, "bt_runtime.cli.loud", loud)
    before = sys.stdout, sys.stderr
    assert btr("config").out == "<U+001B>]0;x<U+0007>\n"
    assert (sys.stdout, sys.stderr) == before
    assert raw(guarded(before[0])) is before[0]
