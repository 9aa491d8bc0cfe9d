"""Tools of MCP servers as skills: what a sound server gives, and what a hostile one costs."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_author.mcp.leaf.config import find, servers
from bt_runtime import BtError, Faults, Person
from bt_runtime.cli import main
from bt_runtime.language.manifest import parse, read
from bt_runtime.language.project import trust
from bt_runtime.testing import run_tree

SERVER = Path(__file__).with_name("raw_server.py")
KINDS = """\
  add:
    sentence: add {{a}} {{b}}
    params: {{a: integer, b: integer, c: {{type: any, default: null}}}}
    outputs: {{sum: integer}}
    on_resume: repeat
    impl: mcp/{0}/add
  say: {{outputs: {{text: string}}, on_resume: repeat, impl: mcp/{0}/say}}
  fail_so: {{on_resume: repeat, impl: mcp/{0}/fail}}
  work: {{on_resume: repeat, impl: mcp/{0}/work}}
  ask: {{outputs: {{text: string}}, on_resume: fail, impl: mcp/{0}/ask}}
  odd: {{on_resume: fail, impl: mcp/{0}/odd}}
  missing: {{on_resume: fail, impl: mcp/{0}/missing}}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one server."""
    root = tmp_path / "shop"
    (root / "skills").mkdir(parents=True)
    (root / "trees").mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("SHOP_KEY", "hunter2")
    serve(root, "sound")
    return root


def serve(root: Path, way: str, more: str = "") -> None:
    """Writes the project: its server goes this way."""
    words = f"[{sys.executable}, {SERVER}, {way}, {root / 'notes'}]"
    settings = f"command: {words}, env: {{SHOP_KEY: $SHOP_KEY}}{more}"
    (root / "btr.yaml").write_text(f"version: 1\nservers:\n  shop: {{{settings}}}\n")
    (root / "skills" / "shop.yaml").write_text(f"version: 1\nskills: shop\nkinds:\n{KINDS.format('shop')}")


def tree(body: str) -> bt.Tree:
    head = "version: 1\ntree: t\nskills: [shop]\nblackboard: {n: {type: integer, default: 0}, said: {type: string}}\n"
    return bt.load(f"{head}root:\n{body}", project=Path.cwd())


def ran(body: str, seconds: float = 60, **how: Any) -> tuple[bt.Status, dict[str, Any], str]:
    """The status, the entries, and what the first leaf says of itself."""
    with bt.Run(tree(body), **how) as run:
        status = run.spin(seconds=seconds)
        leaf = next(node for node in run.nodes() if not node.children)
        return status, dict(run.blackboard), leaf.feedback_message


def notes(root: Path) -> str:
    path = root / "notes"
    return path.read_text() if path.exists() else ""


def gone(pid: int) -> bool:
    """True when no process has this number any more, soon."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            state = (
                Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] if Path("/proc").is_dir() else "?"
            )
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        threading.Event().wait(0.05)
    return False


def pid_of(root: Path) -> int:
    return int(notes(root).split()[1])


# Sound ---------------------------------------------------------------------------------------------


def test_a_tool_is_a_leaf_with_typed_outputs_and_its_server_dies_with_the_run(shop: Path) -> None:
    """One process serves all leaves of a run, gets its secret by name, and nothing else of ours."""
    body = "  sequence:\n    - add: {a: 2, b: 3, sum: '{n}'}\n    - add: {a: '{n}', b: 1, sum: '{n}'}\n"
    body += "    - say: {text: '{said}'}\n"
    status, board, _ = ran(body)
    assert (status, board["n"]) == (bt.Status.SUCCESS, 6)
    assert "\x1b" not in board["said"] and "hello" in board["said"]
    told = notes(shop).splitlines()
    assert told[0].split() == ["started", str(pid_of(shop)), "hunter2"]
    assert told[1:4] == ['call add {"a": 2, "b": 3}', 'call add {"a": 5, "b": 1}', "call say {}"]
    assert gone(pid_of(shop))


def test_an_error_of_a_tool_is_failure_with_its_text(shop: Path) -> None:
    status, _, said = ran("  fail_so: {}\n")
    assert status is bt.Status.FAILURE and said == "there is no such cup"


@pytest.mark.parametrize(("kind", "words"), [("missing", "has no tool `missing`"), ("odd", "odd")])
def test_what_cannot_be_understood_is_failure_in_words(shop: Path, kind: str, words: str) -> None:
    status, _, said = ran(f"  {kind}: {{}}\n")
    assert status is bt.Status.FAILURE and words in said


def test_progress_is_feedback_and_a_halt_cancels_at_the_server(shop: Path) -> None:
    with bt.Run(tree("  work: {}\n")) as run:
        seen: list[str] = []
        run.listen(lambda event: seen.append(event.text), bt.events.Feedback)
        until = time.monotonic() + 60
        while not any("lifting" in each for each in seen) and time.monotonic() < until:
            assert run.tick().running
            threading.Event().wait(0.02)
        assert any("1/4 lifting" in each for each in seen)
        run.halt("enough")
        while "cancelled" not in notes(shop) and time.monotonic() < until:
            threading.Event().wait(0.02)
    assert "cancelled" in notes(shop)


class Says(Person):
    """A person who gives the same answer to everything."""

    def __init__(self, answer: str) -> None:
        super().__init__()
        self.says, self.heard = answer, []

    def put(self, reply: Any) -> Any:
        super().put(reply)
        self.heard.append((reply.question, reply.confirms))
        self.answer(reply.number, self.says)
        return reply


@pytest.mark.parametrize(("answer", "expected"), [("yes", '"accept"'), ("no", '"decline"'), (None, '"decline"')])
def test_a_question_of_a_server_goes_to_the_runs_person(shop: Path, answer: str | None, expected: str) -> None:
    person = Says(answer) if answer is not None else None
    _, board, _ = ran("  ask: {text: '{said}'}\n", services={"person": person} if person else None)
    assert expected in board["said"]
    if person is not None:
        assert person.heard == [("The server shop asks: Delete it? (yes or no)", True)]


def test_without_a_run_nothing_is_started_and_a_test_needs_no_server(shop: Path) -> None:
    trial = run_tree(tree("  add: {a: 1, b: 2, sum: '{n}'}\n"), skills={"add": {"sum": 3}})
    assert trial.board["n"] == 3
    assert main(["validate"]) == 0
    assert notes(shop) == ""


def test_a_recorded_run_is_replayed_without_its_servers_and_resumed_with_those_of_the_project(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay starts nothing, also where no project is; a resume starts what the project names now."""
    (shop / "trees" / "t.yaml").write_text(
        "version: 1\ntree: t\nskills: [shop]\nroot:\n  sequence: [add: {a: 1, b: 2}, wait: 0.2, say: {}]\n"
    )
    assert main(["run", "t", "--ticks", "60", "--seconds", "0.1"]) in (0, 4), capsys.readouterr()
    begun = notes(shop).count("started")
    elsewhere = shop.parent / "elsewhere"
    elsewhere.mkdir()
    journal = next((shop / "runs").glob("*.btr"))
    assert main(["runs", "replay", "last"]) == 0, capsys.readouterr()
    monkeypatch.chdir(elsewhere)
    assert main(["runs", "replay", str(journal)]) == 0, capsys.readouterr()
    assert notes(shop).count("started") == begun
    monkeypatch.chdir(shop)
    assert main(["runs", "resume", "last"]) == 0, capsys.readouterr()
    assert notes(shop).count("call say") == 1


# Hostile -------------------------------------------------------------------------------------------

COSTS = [
    ("hangs", ", timeout: 0.5", "has not answered within 0.5 s"),
    ("mute", ", start: 0.5", "was not ready within 0.5 s"),
    ("dies", "", "has gone: it has ended"),
    ("floods", ", most: 100000", "a message of more than 100,000 bytes"),
    ("deep", "", "levels deep"),
    ("garbage", "", "no message of the protocol"),
    ("wrong", "", "sum"),
]


@pytest.mark.parametrize(("way", "more", "words"), COSTS, ids=[way for way, _, _ in COSTS])
def test_a_hostile_server_costs_its_own_leaf(shop: Path, way: str, more: str, words: str) -> None:
    """The leaf fails with the reason, the rest of the tree goes on, and no process is left."""
    serve(shop, way, more)
    with bt.Run(tree("  fallback:\n    - add: {a: 1, b: 2, sum: '{n}'}\n    - log: went on\n")) as run:
        assert run.spin(seconds=60) is bt.Status.SUCCESS
        said = next(node for node in run.nodes() if node.name.startswith("add") or not node.children).feedback_message
        assert words in said
    assert gone(pid_of(shop))


def test_no_tick_waits_for_a_server(shop: Path) -> None:
    """While a server starts and hangs, ticks go on: far more of them than a waiting tick would allow."""
    serve(shop, "hangs", ", timeout: 30")
    slowest: list[float] = []
    with bt.Run(tree("  add: {a: 1, b: 2, sum: '{n}'}\n")) as run:
        run.listen(lambda slow: slowest.append(slow.seconds), bt.events.Slow)
        until = time.monotonic() + 60
        ticks = 0
        while "call add" not in notes(shop) and time.monotonic() < until:
            assert run.tick().running
            ticks += 1
            threading.Event().wait(0.005)
    assert ticks > 3 and "call add" in notes(shop)
    assert gone(pid_of(shop))


def test_a_tool_that_changes_its_description_is_stopped(shop: Path) -> None:
    serve(shop, "changes")
    body = "  sequence:\n    - add: {a: 1, b: 2, sum: '{n}'}\n    - wait: 0.3\n    - add: {a: 1, b: 1, name: again}\n"
    with bt.Run(tree(body)) as run:
        assert run.spin(seconds=60) is bt.Status.FAILURE
        assert "changed its description" in run.parts.engine.find("/t/again").feedback_message
    assert notes(shop).count("call add") == 1


def test_a_tool_that_was_imported_with_another_description_is_refused(shop: Path) -> None:
    path = shop / "skills" / "shop.yaml"
    path.write_text(path.read_text().replace("impl: mcp/shop/add", "impl: mcp/shop/add\n    seen: '0123456789abcdef'"))
    status, _, said = ran("  add: {a: 1, b: 2, sum: '{n}'}\n")
    assert status is bt.Status.FAILURE and "changed its description" in said and "btr import mcp shop" in said
    assert "call add" not in notes(shop)


def test_a_server_that_died_is_started_again(shop: Path) -> None:
    serve(shop, "dies")
    ran("  retry: {times: 2, child: {add: {a: 1, b: 2, sum: '{n}'}}}\n")
    assert notes(shop).count("started") == 2


def test_a_stubborn_server_is_killed_with_its_group(shop: Path) -> None:
    serve(shop, "stubborn")
    assert ran("  add: {a: 1, b: 2, sum: '{n}'}\n")[0] is bt.Status.SUCCESS
    assert gone(pid_of(shop))


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells a child of its parent's death on Linux")
def test_a_server_dies_with_a_process_that_was_killed(shop: Path) -> None:
    import signal
    import subprocess

    from bt_runtime.language.project import child

    serve(shop, "hangs", ", timeout: 100")
    code = (
        "import bt_runtime as bt\n"
        "from pathlib import Path\n"
        "text = '''version: 1\ntree: t\nskills: [shop]\nroot:\n  add: {a: 1, b: 2}\n'''\n"
        "with bt.Run(bt.load(text, project=Path.cwd())) as run:\n    run.spin(seconds=100)\n"
    )
    with subprocess.Popen([sys.executable, "-P", "-c", code], cwd=shop, env=child.environment()) as process:
        until = time.monotonic() + 60
        while "call add" not in notes(shop) and time.monotonic() < until:
            threading.Event().wait(0.05)
        process.send_signal(signal.SIGKILL)
    assert gone(pid_of(shop))


# Trust and settings --------------------------------------------------------------------------------


def test_a_servers_command_is_started_in_a_trusted_folder_only(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("BTR_TRUST")
    (shop / "trees" / "t.yaml").write_text("version: 1\ntree: t\nskills: [shop]\nroot:\n  add: {a: 1, b: 2}\n")
    for words in (["run", "t"], ["import", "mcp", "shop", "--out", "skills/more.yaml"]):
        assert main(words) == 2
        assert "the server `shop` is started" in capsys.readouterr().err
    assert main(["validate"]) == 0 and main(["serve", "mcp", "--http", "0", "--allow", "try"]) == 2
    assert notes(shop) == ""
    trust.remember(shop)
    assert main(["run", "t"]) == 0
    assert "call add" in notes(shop)


@pytest.mark.parametrize(
    ("settings", "words"),
    [("{shop: {}}", "servers"), ("{shop: {command: mcp-server-time}}", "`command` of `shop` is a list"),
     ("{shop: {command: [x], env: {KEY: hunter2}}}", "a secret is named by its variable"),
     ("{shop: {url: 'file:///x'}}", "http"),
     ("{shop: {command: [x], allow: all}}", "servers"), ("{'a b': {command: [x]}}", "servers")],
)  # fmt: skip
def test_a_wrong_server_is_a_fault_with_its_place(shop: Path, capsys: Any, settings: str, words: str) -> None:
    (shop / "btr.yaml").write_text(f"version: 1\nservers: {settings}\n")
    assert main(["validate", "btr.yaml"]) == 1
    said = capsys.readouterr().out
    assert "BT060" in said and words in said


def test_a_skill_of_an_unknown_server_or_of_a_tool_that_is_not_allowed_is_a_fault(shop: Path) -> None:
    path = shop / "skills" / "shop.yaml"
    path.write_text(path.read_text().replace("mcp/shop/say", "mcp/shp/say"))
    faults = read(path).diagnostics
    assert "names no server `shp`" in faults[0].message and "did you mean `shop`?" in faults[0].help
    serve(shop, "sound", ", tools: [add]")
    with pytest.raises(Faults, match="not allowed the tool `say`"):
        tree("  add: {a: 1, b: 2}\n")


def test_a_secret_that_is_not_set_is_told_before_the_server_starts(shop: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("SHOP_KEY")
    status, _, said = ran("  add: {a: 1, b: 2}\n")
    assert status is bt.Status.FAILURE and "SHOP_KEY" in said and notes(shop) == ""


def test_a_server_has_a_command_or_an_address(shop: Path) -> None:
    assert find("shop", shop).timeout == 60
    assert servers(None) == {}
    (shop / "btr.yaml").write_text("version: 1\nservers: {shop: {command: [x], url: 'http://127.0.0.1:1'}}\n")
    with pytest.raises(BtError, match="one of them"):
        servers(shop)


def test_a_skill_is_not_offered_the_keys_of_a_neighbours_implementation() -> None:
    """Beside a tool of a server, a skill of the world has no `timeout`."""
    text = "version: 1\nskills: s\nkinds:\n  a: {impl: mcp/shop/list, timout: 3}\n  b: {sentence: go, timout: 3}\n"
    faults = [fault for fault in parse(text).diagnostics if "timout" in fault.message]
    assert ["timeout" in fault.help for fault in faults] == [True, False]
    assert ["timeout" in fault.label for fault in faults] == [True, False]
