"""`btr serve mcp --operate`: a live run is read, grafted into after a person's yes, and halted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import types

import bt_runtime as bt
from bt_author.mcp.operate import tools
from bt_author.mcp.tools.every import TOOLS
from bt_runtime.run.debug.door import Door
from packages.author.tests.mcp.assistant import Assistant, asked

SLOW = "version: 1\ntree: live\nroot:\n  sequence:\n    - wait: {name: long, seconds: 600}\n    - log: done\n"
GRAFT = "log: grafted"
BAD = "lgo: grafted"


@pytest.fixture
def live(project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[bt.Run]:
    """A run of this process that ticks until it ends, with its debugger's socket open."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("d")))
    (project / "trees" / "live.yaml").write_text(SLOW)
    with bt.Run(bt.load("live", project=project)) as run:
        door = Door(run, "live")
        thread = threading.Thread(target=run.spin)
        thread.start()
        try:
            yield run
        finally:
            run.halt("the test is over", for_good=True)
            thread.join(30)
            door.close()


def script_of(text: str) -> Any:
    async def script(assistant: Assistant) -> Any:
        assert "RUNNING" in await assistant.text("live", what="status")
        assert "long" in await assistant.text("live", what="why", path="/live/long")
        return await assistant.call("live_graft", path="/live/long", text=text)

    return script


def asking(yes: Any, heard: list[str]) -> Any:
    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        heard.append(params.message)
        return (
            types.ElicitResult(action="accept", content={"yes": yes})
            if yes is not None
            else types.ElicitResult(action="decline")
        )

    return answer


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_graft_is_made_after_the_persons_yes(live: bt.Run, project: Path, mode: str) -> None:
    heard: list[str] = []
    how = {"mode": mode, "elicitation_callback": asking(True, heard)}
    answer = asked(project, script_of(GRAFT), tools={**TOOLS, **tools("live")}, **how)
    assert not answer.is_error, answer
    assert GRAFT in heard[0] and "/live/long" in heard[0] and len(heard) == 1


def test_the_person_is_shown_the_whole_graft(live: bt.Run, project: Path) -> None:
    """Nothing is cut: a long graft stands in the question to its last line, and a longer one is refused."""
    heard: list[str] = []
    long = "sequence:\n" + "".join(f"  - log: line {n}\n" for n in range(600)) + "  - log: the last\n"
    how = {"elicitation_callback": asking(False, heard)}
    answer = asked(project, script_of(long), tools={**TOOLS, **tools("live")}, **how)
    assert answer.is_error and heard[0].rstrip().endswith("- log: the last") and long.strip() in heard[0]
    too_long = long + "  - log: " + "x" * 20_000 + "\n"
    answer = asked(project, script_of(too_long), tools={**TOOLS, **tools("live")}, **how)
    assert answer.is_error and "too long for a person" in answer.content[0].text and len(heard) == 1
    assert live.parts.engine.find("/live/long") is not None


@pytest.mark.parametrize("yes", [False, None, "nobody"])
def test_without_a_yes_nothing_is_grafted(live: bt.Run, project: Path, yes: Any) -> None:
    how = {} if yes == "nobody" else {"elicitation_callback": asking(yes, [])}
    answer = asked(project, script_of(GRAFT), tools={**TOOLS, **tools("live")}, **how)
    assert answer.is_error and "nothing was done" in answer.content[0].text
    assert live.parts.engine.find("/live/long") is not None


def test_a_person_at_the_terminal_decides_and_not_the_client(live: bt.Run, project: Path) -> None:
    heard: list[str] = []

    def no(question: str) -> bool:
        heard.append(question)
        return False

    how = {"elicitation_callback": asking(True, [])}
    answer = asked(project, script_of(GRAFT), tools={**TOOLS, **tools("live")}, ask=no, **how)
    assert answer.is_error and GRAFT in heard[0]


def test_a_graft_with_faults_is_refused_before_anybody_is_asked(live: bt.Run, project: Path) -> None:
    heard: list[str] = []
    how = {"elicitation_callback": asking(True, heard)}
    answer = asked(project, script_of(BAD), tools={**TOOLS, **tools("live")}, **how)
    assert answer.is_error and "BT012" in answer.content[0].text and not heard


def test_a_run_is_halted_at_once(live: bt.Run, project: Path) -> None:
    shown: list[str] = []

    async def script(assistant: Assistant) -> str:
        return await assistant.text("live_halt", why="smoke")

    assert "halted" in asked(project, script, tools={**TOOLS, **tools("live")}, shown=shown)
    assert "assistant halts" in shown[0]


def test_without_operate_there_is_no_live_tool(project: Path) -> None:
    assert not [name for name in TOOLS if name.startswith("live")]


def test_a_graft_of_an_assistant_meets_what_its_skill_requires(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person's yes lets the graft in; the skill in it does not start while its condition is false."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("d")))
    done: list[str] = []
    move = bt.skill("move", name="move", requires="closed")(lambda: done.append("moved"))
    head = "version: 1\ntree: live\nblackboard: {closed: {type: boolean, default: false}}\n"
    (project / "trees" / "live.yaml").write_text(head + SLOW.partition("tree: live\n")[2])
    with bt.Run(bt.load("live", project=project, skills=[move])) as run:
        door = Door(run, "live")
        thread = threading.Thread(target=run.spin)
        thread.start()
        how = {"elicitation_callback": asking(True, [])}
        answer = asked(project, script_of("move: {}"), tools={**TOOLS, **tools("live")}, **how)
        thread.join(30)
        run.halt("the test is over", for_good=True)
        door.close()
        assert not answer.is_error, answer
        assert run.status is bt.Status.FAILURE and done == []
