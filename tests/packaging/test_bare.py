"""Without any extra every command works, or says in one line which extra it needs: no traceback, and no bug of btr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bt_fleet.cli.fleet import WORDS
from bt_runtime.cli import COMMANDS, joined
from bt_runtime.language.faults.extra import extra_of
from bt_runtime.language.project.plugins import WORKSPACE

BARE = Path(__file__).with_name("bare")
FILES = {
    "btr.yaml": 'version: 1\nservers: {files: {command: ["true"]}}\n',
    "trees/plain.yaml": "version: 1\ntree: plain\nroot: {sequence: [{log: hi}, {succeed: {}}]}\n",
    "trees/other.yaml": "version: 1\ntree: other\nroot: {succeed: {}}\n",
    "trees/agent.yaml": "version: 1\ntree: agent\nskills: [arm]\nroot: {agent: {goal: tidy, moves: [think, act]}}\n",
    "trees/tool.yaml": "version: 1\ntree: tool\nskills: [tools]\nroot: {lookup: {}}\n",
    "trees/physics.yaml": "version: 1\ntree: physics\nskills: [arm]\nroot: {grip: {}}\n",
    "skills/tools.yaml": "version: 1\nskills: tools\nkinds: {lookup: {impl: mcp/files/list, on_resume: repeat}}\n",
    "skills/arm.yaml": "version: 1\nskills: arm\nkinds: {grip: {impl: arm.py:grip}}\n",
    "skills/arm.py": "import mujoco\n\n\ndef grip():\n    return True\n",
    "text.txt": "hello\n" * 50,
}
ADVISING = ("doctor", "memory add x --file memory/none")  # say what an extra would bring
# a command → the extra that it needs; "" for one that works, or fails for another reason
SAID: dict[str, str] = {
    "validate trees/plain.yaml": "", "fuzz plain": "fuzz", "check plain --always true": "", "edit --help": "",
    "fmt --check": "", "serve lsp": "lsp", "serve mcp .": "mcp", "view render plain": "",
    "view render plain -o x.pdf": "",
    "import mcp files": "mcp", "import missing.xml --out sub": "", "export plain": "", "config schema": "",
    "view diff plain other": "", "plan x --skills arm": "", "skills suggest": "",
    "init --example patrol sub": "", "explain BT012": "",
    "new tree fresh": "", "new tree drafted --from hello --model starter": "llm",
    "run plain": "", "run plain --groot2": "robot", "run plain --mcap x.mcap": "robot",
    "run plain --otlp http://127.0.0.1:1": "otel", "run plain --metrics 0": "", "run plain --ros zenoh": "ros",
    "run plain --env webshop": "webshop", "run plain --env alfworld": "alfworld",
    "run plain --env house": "", "run agent --model starter": "llm", "run agent --model a.gguf": "llm",
    "run agent --model smollm2": "smollm", "run agent --model toyy:1": "", "run tool": "mcp", "run physics": "robot",
    "demo": "llm", "demo --engine": "", "view missing": "", "view top missing": "", "attach missing": "",
    "runs why last /plain": "", "runs list": "", "runs show last": "",
    "runs export last --format mcap -o x.mcap": "robot",
    "runs resume last": "robot", "runs fork last --at 0": "robot", "runs replay last": "", "runs compile last": "",
    "lab play webshop": "webshop", "lab play alfworld": "alfworld", "lab tasks house": "",
    "lab tasks webshop": "", "lab eval show missing": "", "lab eval run missing": "", "lab optimise house": "",
    "memory list": "", "memory add x --file memory/none": "", "memory reembed --embedder minilm": "embed",
    "memory reembed --embedder e5": "e5", "view prompt agent": "", "view prompt agent --scores --model starter": "llm",
    "lab distill --from text.txt --out x.gguf --minutes 1": "distill",
    "lab finetune --base starter --from text.txt --out y.gguf --minutes 1": "distill",
    "fleet up --port 0": "fleet", "fleet join --robot r1": "fleet", "fleet send plain": "fleet",
    "fleet ls": "fleet", "fleet show x": "fleet", "fleet cancel x": "fleet", "fleet settle x again": "fleet",
    "fleet halt --all": "fleet", "fleet release --all": "fleet", "fleet drain r1": "fleet",
    "fleet deploy plain": "", "fleet versions": "fleet", "fleet keys add robot r1": "fleet", "fleet keys tls": "fleet",
    "fleet view": "fleet", "fleet vda5050 --robot r --mqtt 127.0.0.1:1": "fleet", "fleet rmf": "fleet",
    "fleet journal x": "fleet", "fleet logs": "fleet", "fleet places": "fleet",
    "lab": "", "serve": "", "trust": "", "config": "", "doctor": "", "config completion bash": "",
}  # fmt: skip


def told(home: Path) -> dict[str, tuple[int, str]]:
    """Returns what each command says in a project, in a Python without any extra."""
    project = home / "project"
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    (home / "commands.json").write_text(json.dumps([words.split() for words in SAID]))
    surroundings = {**os.environ, "PYTHONPATH": str(BARE), "BTR_TRUST": str(project), "XDG_STATE_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, str(BARE / "drive.py"), str(home / "commands.json")],
        cwd=project, env=surroundings, capture_output=True, text=True, timeout=1200, check=True,
    )  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {" ".join(words): (code, text) for words, code, text in rows}


def wrong(words: str, code: int, text: str) -> str:
    """Returns what is wrong with the answer of a command; "" for nothing."""
    if code < 0:
        return "it did not end"
    if code == 3 or any(word in text for word in ("Traceback", "internal error", "is a bug")):
        return "it has broken"
    extra = SAID[words]
    if not extra:
        return "it needs an extra" if "bt_runtime[" in text and words not in ADVISING else ""
    line = next((each for each in text.splitlines() if each.startswith("error")), "")
    named = f"`{extra}`" in line or "is not installed" in line
    return "" if code == 2 and named and f"bt_runtime[{extra}]" in text else f"it does not name `{extra}`"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs each command in a fork")
def test_every_command_works_or_names_its_extra_in_a_line(tmp_path: Path) -> None:
    """No traceback and no internal error; what needs an extra ends before it begins, and says how to get it. A new
    command, and a new word of `btr fleet`, is added to the table."""
    assert {joined(words.split())[0] for words in SAID} == set(COMMANDS)
    assert {words.split()[1] for words in SAID if words.startswith("fleet ")} == set(WORDS)
    answers = told(tmp_path)
    assert answers.keys() == SAID.keys()
    found = {words: (why, text[-500:]) for words, (code, text) in answers.items() if (why := wrong(words, code, text))}
    assert found == {}


def test_modules_are_known_by_their_extra() -> None:
    found = [extra_of(name, WORKSPACE) for name in ("mujoco", "msgpack", "yaml", "nothing")]
    assert found == ["robot", "thor", "", ""]
