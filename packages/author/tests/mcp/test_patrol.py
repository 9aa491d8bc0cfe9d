"""A scripted assistant builds the patrol robot by tools alone, from a project that has skills and no tree."""

from __future__ import annotations

from pathlib import Path

from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, Trial
from packages.author.tests.mcp.assistant import Assistant, asked

FIRST = """\
version: 1
tree: patrol
skills: [rover]
blackboard:
  low: {type: boolean, default: false, about: written by the battery's driver}
root:
  reactive_falback:
    - for_each:
        name: rounds
        in: [hall, kitchen]
        as: place
        child:
          drve: "{place}"
"""
BRANCH = """\
    - sequence:
        name: recharge
        children:
          - check: low
          - drive: dock
          - charge: {}
          - set: {low: false}
          - fail: back to the rounds
"""
MOST_READ, MOST_WRITTEN = 4_800, 1_900  # characters; a token is some four of them


def named(answer: str) -> str:
    """The name under which the text of a call was kept."""
    return answer.rpartition("kept as ")[2]


def test_an_assistant_authors_mends_tries_proves_and_writes_a_tree(project: Path) -> None:
    """Every step goes through the protocol, and what it reads and writes stays small."""
    (project / "trees" / "rounds.yaml").unlink()
    shown: list[str] = []

    async def script(assistant: Assistant) -> tuple[int, int]:
        assert "drive(place: dock|hall|kitchen)" in await assistant.text("skills")
        language = (await assistant.client.read_resource("btr://language")).contents[0].text
        faults = await assistant.text("validate", tree=FIRST)
        assert "reactive_fallback" in faults and "did you mean `drive`" in faults
        mended = (await assistant.call("fix", tree=named(faults))).structured_content["text"]
        tree = mended.replace("  reactive_fallback:\n", f"  reactive_fallback:\n{BRANCH}")
        sound = await assistant.text("validate", tree=tree)
        assert sound.startswith("no faults")
        tree = named(sound)
        story = await assistant.text(
            "try", tree=tree, seconds=60, skills={"drive": [100, 5], "charge": 10},
            writes=[{"at": 1, "set": {"low": True}}],
        )  # fmt: skip
        assert story.startswith("SUCCESS") and "halted" in story and "charge" in story
        assert "kept" in await assistant.text("fuzz", tree=tree, within=9000, runs=10, skills_end=True)
        assert "patrol" in await assistant.text("render", tree=tree)
        path, places = "trees/patrol.yaml", "in: [hall, kitchen]"
        assert "wrote" in await assistant.text("write", path=path, text=tree, why="the rounds")
        assert "wrote" in await assistant.text("write", path=path, old=places, text="in: [hall, kitchen, dock]")
        assert "/patrol/rounds" in await assistant.text("diff", first="patrol", second=tree)
        return assistant.read + len(language), assistant.written

    read, written = asked(project, script, shown=shown)
    print(f"{read} characters read, {written} written")
    assert read < MOST_READ and written < MOST_WRITTEN, (read, written)
    assert len(shown) == 2
    with Trial("patrol", skills={"drive": [RUNNING, SUCCESS], "charge": 3}, project=project) as trial:
        trial.tick()
        trial.board["low"] = True
        trial.tick()
        trial.finish()
        assert trial.status in (SUCCESS, FAILURE) and trial.skills["charge"].started == 1
