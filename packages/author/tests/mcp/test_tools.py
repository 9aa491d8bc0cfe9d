"""What an assistant gets from each tool."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from bt_author.mcp.tools.answer import PAGE, paged, rows
from bt_author.mcp.tools.every import TOOLS, call
from bt_author.mcp.tools.scripted import act, collapsed
from bt_author.mcp.tools.site import Site
from bt_runtime.language import fixes
from bt_runtime.language.fixes import Edit
from bt_runtime.language.loader import Loader
from bt_runtime.types import Span
from packages.author.tests.mcp.assistant import Assistant, asked, command
from packages.author.tests.mcp.conftest import TREE, ran

BROKEN = "version: 1\ntree: x\nskills: [rover]\nroot:\n  sequenc:\n    - drve: dock\n    - wait: {secnds: 2}\n"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("kinds", {}),
    ("kinds", {"names": ["retry", "for_each"]}),
    ("skills", {}),
    ("skills", {"manifest": "nav2"}),
    ("explain", {"word": "BT012"}),
    ("explain", {"word": "drive"}),
    ("validate", {}),
    ("validate", {"tree": "rounds"}),
    ("validate", {"tree": BROKEN}),
    ("validate", {"tree": "skills/rover.yaml"}),
    ("format", {"tree": "version: 1\ntree:   x\nroot: {wait:   1}\n"}),
    ("fix", {"tree": BROKEN}),
    ("render", {"tree": "rounds"}),
    ("render", {"tree": "btr:reactree", "form": "text", "depth": 2}),
    ("try", {"tree": "rounds"}),
    ("fuzz", {"tree": "rounds", "runs": 3, "never": ["1 > 2"]}),
    ("check", {"tree": "rounds", "never": ["1 > 2"]}),
    ("diff", {"first": "rounds", "second": TREE.replace("hall, ", "")}),
    ("write", {"path": "trees/again.yaml", "text": TREE}),
    ("runs", {}),
]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_each_tool_answers_in_its_own_schema_and_within_one_page(project: Path, mode: str) -> None:
    """The SDK's client holds each structured answer to the tool's schema, in both ways to speak the protocol."""

    async def script(assistant: Assistant) -> None:
        for tool, given in CALLS:
            text = await assistant.text(tool, **given)
            assert 0 < len(text) <= PAGE + 100, tool
        assert {tool for tool, _ in CALLS} | {"test", "why", "fork"} == set(TOOLS)

    asked(project, script, mode=mode)
    assert not ran(project)


def test_the_list_of_tools_is_short() -> None:
    """What a host puts before every conversation: names, sentences, parameters."""
    told = [{"name": t.name, "description": t.about, "input_schema": t.schema()} for t in TOOLS.values()]
    assert len(json.dumps(told)) < 6_500


def test_faults_are_those_of_the_loader_and_their_edits_mend_the_text(project: Path) -> None:
    answer = call(Site(project), "validate", {"tree": BROKEN})
    expected = Loader(project).text(BROKEN, "draft", project / "trees").diagnostics
    assert [f["code"] for f in answer.data["faults"]] == [d.code for d in expected]
    edits = [edit for fault in answer.data["faults"] for edit in fault["fixes"][0]["edits"]]
    mended = fixes.applied(BROKEN, [Edit(Span(*edit["from"], *edit["to"]), edit["text"]) for edit in edits])
    assert call(Site(project), "validate", {"tree": mended}).data["sound"]
    assert mended == call(Site(project), "fix", {"tree": BROKEN}).data["text"]


def test_a_picture_comes_as_an_image(project: Path) -> None:
    async def script(assistant: Assistant) -> Any:
        return await assistant.call("render", tree="rounds")

    _, image = asked(project, script).content
    assert image.mime_type == "image/svg+xml"
    assert base64.b64decode(image.data).startswith(b"<svg")


def test_try_tells_starts_writes_halts_and_results_in_order(project: Path) -> None:
    tree = (
        "version: 1\ntree: t\nskills: [rover]\nblackboard: {low: {type: boolean, default: false}}\nroot:\n"
        "  reactive_fallback:\n    - sequence: [check: low, drive: dock, fail: again]\n    - drive: hall\n"
    )
    given = {
        "tree": tree, "seconds": 30, "skills": {"drive": ["running", [3, "failure"], [2, "success"]]},
        "writes": [{"at": 5, "set": {"low": True}}, {"at": 9, "set": {"low": False}}],
    }  # fmt: skip
    answer = call(Site(project), "try", given)
    assert answer.data["status"] == "SUCCESS"
    expected = [
        "0 s  drive(place=hall): runs",
        "5 s  drive(place=dock): FAILURE after 3",
        "5 s  /t/1 halted",
        "FAILURE",
    ]
    at = 0
    for part in expected:
        at = answer.text.index(part, at) + 1
    assert "lines" in answer.text and len(answer.text.splitlines()) < 20, "a round is told once"


def test_rounds_of_a_story_are_told_once() -> None:
    lines = [f"{n} s  {'abc'[n % 3]}" for n in range(10)]
    assert collapsed(lines) == ["0 s  a", "1 s  b", "2 s  c", "  … these 3 lines 3 times in all, until 8 s", "9 s  a"]
    assert collapsed(lines[:5]) == lines[:5]
    assert collapsed(["1 s  x"] * 3) == ["1 s  x", "  … this line 3 times in all, until 1 s"]


@pytest.mark.parametrize("said", ["sucess", -1, None, [1, None], 1.5])
def test_a_script_that_says_nothing_is_refused_in_words(project: Path, said: Any) -> None:
    answer = call(Site(project), "try", {"tree": "rounds", "skills": {"drive": said}})
    assert answer.failed and "help" in answer.text


def test_a_script_as_json_is_what_a_test_would_say() -> None:
    assert act("failure").name == "FAILURE"
    assert act([3, "failure"]).ticks == 3
    assert isinstance(act({"error": "broken"}), RuntimeError)
    assert act({"level": 1}) == {"level": 1}


def test_a_tree_that_never_ends_is_stopped(project: Path) -> None:
    """A busy loop costs a bounded number of ticks, whatever time it is given."""
    tree = "version: 1\ntree: t\nroot:\n  repeat: {times: -1, child: {wait: 0.001}}\n"
    answer = call(Site(project), "try", {"tree": tree, "seconds": 86_400})
    assert answer.data["status"] == "RUNNING" and "stopped after" in answer.text


def test_a_long_answer_has_pages_which_together_are_the_whole(project: Path) -> None:
    text = "\n".join(f"line {n} {'x' * (n % 90)}" for n in range(1, 900))
    first = paged(text)
    parts = [paged(text, n).text.split("\n(page ")[0] for n in range(1, first.pages + 1)]
    assert "\n".join(parts) == text
    listed = [str(n) for n in range(95)]
    found = [line for n in (1, 2, 3) for line in rows(listed, n).text.splitlines() if line.isdecimal()]
    assert found == listed
    assert call(Site(project), "kinds", {"page": 9}).failed


def test_a_prompt_and_every_sort_of_resource_can_be_read(project: Path) -> None:
    async def script(assistant: Assistant) -> None:
        client, cursor, uris = assistant.client, None, []
        while True:
            page = await client.list_resources(cursor=cursor)
            uris += [str(each.uri) for each in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert {"btr://language", "btr://kind/retry", "btr://tree/rounds", "btr://manifest/rover"} <= set(uris)
        for uri in (*uris, "btr://fault/BT012"):
            content = (await client.read_resource(uri)).contents[0]
            assert content.text
        said = await client.get_prompt("author_tree", {"goal": "look after the hall"})
        assert "rover/drive" in said.messages[0].content.text and "look after the hall" in said.messages[0].content.text
        for uri in ("btr://tree/../../etc/passwd", "btr://run/x", "file:///etc/passwd", "btr://kind/nope"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)

    asked(project, script)


def test_the_language_page_of_an_assistant_shows_sound_trees(project: Path) -> None:
    page = (Path(__file__).parents[4] / "packages" / "author" / "bt_author" / "mcp" / "language.md").read_text("utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    (project / "skills" / "robot.yaml").write_text(
        "version: 1\nskills: robot\nimpl: world\nkinds:\n  go_to: {params: {place: string}}\n  charge: {}\n"
    )
    assert call(Site(project), "validate", {"tree": example}).text.startswith("no faults")
    assert len(page) < 3_500


def test_over_standard_input_and_output_the_same_is_served(project: Path) -> None:
    """As a host starts it: a process of its own, and prints do not disturb the protocol."""
    words = command(str(project))

    async def main() -> None:
        with anyio.fail_after(60):
            async with Client(StdioServerParameters(command=words[0], args=words[1:], cwd="/")) as client:
                answer = await client.call_tool("write", {"path": "trees/w.yaml", "text": TREE})
                assert answer.structured_content == {"written": True, "file": "trees/w.yaml"}
                assert not (await client.call_tool("validate", {})).is_error

    anyio.run(main)
    assert (project / "trees" / "w.yaml").read_text() == TREE


def test_what_is_written_at_the_start_stands_at_the_first_tick_and_a_course_ends_with_its_tree(project: Path) -> None:
    tree = (
        "version: 1\ntree: t\nskills: [rover]\nblackboard: {low: {type: boolean, default: false}}\nroot:\n"
        "  if: {check: low, then: {drive: dock}, else: {drive: hall}}\n"
    )
    answer = call(Site(project), "try", {"tree": tree, "writes": [{"at": 0, "set": {"low": True}}]})
    assert answer.data["status"] == "SUCCESS" and answer.data["skills"] == {"drive": 1}
    assert "drive(place=dock)" in answer.text and "hall" not in answer.text


def test_a_text_that_was_handed_over_is_named_and_need_not_be_sent_again(project: Path) -> None:
    """The name is told once, stands for the text in any tool, and is no way to another session's file."""
    site = Site(project)
    first = call(site, "validate", {"tree": TREE})
    name = first.text.rpartition("kept as ")[2]
    assert first.text.startswith("no faults") and name.startswith("draft:")
    assert "kept as" not in call(site, "validate", {"tree": TREE}).text
    assert call(site, "try", {"tree": name}).data["skills"] == {"drive": 2}
    assert call(site, "diff", {"first": name, "second": "rounds"}).data["changes"] == 0
    assert call(site, "write", {"path": "trees/again.yaml", "text": name}).data["written"]
    assert (project / "trees" / "again.yaml").read_text() == TREE
    assert "hand over the text again" in call(Site(project), "try", {"tree": name}).text
    made = call(site, "fix", {"tree": BROKEN}).text.rpartition("kept as ")[2]
    assert call(site, "validate", {"tree": made}).data["sound"]
    for number in range(40):
        call(site, "validate", {"tree": f"{TREE}# {number}\n"})
    assert call(site, "try", {"tree": name}).failed


def test_a_part_of_a_file_is_replaced_where_it_stands_once(project: Path) -> None:
    """The rest of the file stays as it is, comments included; the whole must validate."""
    path = project / "trees" / "rounds.yaml"
    path.write_text(f"# mine\n{TREE}")
    site = Site(project)
    given = {"path": "trees/rounds.yaml", "old": "[hall, kitchen]", "text": "[kitchen]"}
    assert call(site, "write", given).data["written"]
    assert path.read_text() == f"# mine\n{TREE.replace('hall, ', '')}"
    for old, words in (("nowhere", "0 times"), ("e", "times in")):
        assert words in call(site, "write", {**given, "old": old}).text
    assert "BT012" in call(site, "write", {**given, "old": "drive:", "text": "drve:"}).text
    assert path.read_text().startswith("# mine")
