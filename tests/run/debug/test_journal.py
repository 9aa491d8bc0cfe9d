"""What a debugger does is in the journal as its own, comes out the same in a replay, and is told after a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from bt_runtime import Run, debugger_of, load
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.events import Line, Notice
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.testing import SUCCESS

ROOT = Path(__file__).parents[3]
PATROL = """\
version: 1
tree: patrol
root:
  repeat:
    times: 5
    child:
      fallback:
        - sequence: {name: drive, children: [{wait: {name: go, seconds: 0.1}}, {log: {name: said, text: arrived}}]}
        - log: {name: lost, text: lost}
"""
KILLED = f"""
import os, signal, sys
from bt_runtime.run.debug.debugger import debugger_of
from bt_runtime import Run, load
from bt_runtime.clock import Manual
from bt_runtime.events import Debugged
clock = Manual()
run = Run(load({PATROL!r}), clock=clock, journal=sys.argv[1])
debugger = debugger_of(run)
debugger.force("**/drive", "failure")
run.tick()
debugger.break_at("**/lost")
for _ in range(3):
    run.tick()
    debugger.step()
debugger.replace("/patrol/0/lost", "log: {{name: lost, text: found}}")
run.tick()
debugger.pause()
run.parts.journal.settled()
print(run.parts.journal.path, run.parts.engine.count, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def debugged(folder: Path) -> Path:
    clock, lines = Manual(), []
    with Run(load(PATROL), clock=clock, journal=folder) as run:
        run.listen(lambda line: lines.append(line.text), Line, Notice)
        debugger = debugger_of(run)
        debugger.break_at("**/said")
        for _ in range(4):
            run.tick()
            clock.advance(1)
        assert debugger.paused
        debugger.force("**/drive", [1, "failure"])
        debugger.replace("/patrol/0/lost", "sequence: {name: search, children: [log: searching, wait: 1]}")
        debugger.resume()
        for _ in range(3):
            run.tick()
            clock.advance(1)
        debugger.into()
        run.tick()
        debugger.take_back()
        debugger.clear()
        debugger.resume()
        while run.tick().running:
            clock.advance(1)
        assert "searching" in lines and run.parts.journal is not None and run.parts.journal.path is not None
        return run.parts.journal.path


def test_all_that_it_did_is_in_the_journal_as_its_own(tmp_path):
    recording = Recording(debugged(tmp_path))
    did = [body["do"] for _, body in recording.of("debug")]
    assert did[:4] == ["break", "force", "replace", "pass"] and {"take back", "clear"} <= set(did)
    told = [body["text"] for _, body in recording.of("log")]
    assert any("debugger: **/drive is forced" in text for text in told)
    halts = [body for _, body in recording.of("halted")]
    assert any(body["by"] == "debugger" for body in halts)


def test_a_debugged_run_comes_out_the_same_when_it_is_replayed(tmp_path):
    found = replay(debugged(tmp_path))
    assert found.same, found.difference
    assert found.status == "SUCCESS"


def test_a_paused_run_that_was_killed_goes_on_and_says_what_the_debugger_had_changed(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    journal, ticks = done.stdout.split()
    lines: list[str] = []
    with resume(journal, clock=Manual()) as run:
        run.listen(lambda line: lines.append(line.text), Line, Notice)
        assert (
            run.parts.engine.count == int(ticks) and not debugger_of(run).paused and debugger_of(run).breakpoints == []
        )
        assert len(debugger_of(run).changes) == 2
        told = [line for line in lines if "a debugger had changed this run" in line]
        assert told and "**/drive is forced: failure" in told[0] and "is replaced by edited YAML" in told[0]
        debugger_of(run).take_back()
        assert run.spin() is SUCCESS
    assert "arrived" in lines and replay(journal).same


def test_btr_resume_takes_back_what_is_asked_for(tmp_path, capsys):
    with Run(load(PATROL), clock=Manual(), journal=tmp_path) as run:
        debugger_of(run).force("**/drive", "running")
        run.tick()
        assert run.parts.journal is not None
        journal = str(run.parts.journal.path)
    assert main(["runs", "resume", journal, "--take-back", "--seconds", "60"]) == 0
    assert "undone: **/drive is forced: running" in capsys.readouterr().err


def test_a_journal_that_tells_of_something_no_debugger_does_is_a_difference(tmp_path):
    clock = Manual()
    with Run(load(PATROL), clock=clock, journal=tmp_path) as run:
        run.tick()
        run.parts.journal.debugged({"do": "import os"})
        run.parts.journal.debugged({"do": "force", "path": 3})
        clock.advance(1)
        run.tick()
        path = run.parts.journal.path
    assert "no debugger writes" in replay(path).difference
