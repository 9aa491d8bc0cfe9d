"""docs/assistants.md is done as it stands: its files, its commands, and its calls through the SDK's client."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from pathlib import Path

import pytest

from packages.author.tests.mcp.assistant import Assistant, asked
from tests.support.page_reader import ROOT, Block, Reader, blocks

PAGE = (ROOT / "docs" / "assistants.md").read_text("utf-8")


class Calling(Reader):
    """A reader whose `call` blocks are calls of an assistant."""

    def do(self, block: Block) -> None:
        if block.kind == "call":
            given = json.loads(block.text)

            async def script(assistant: Assistant) -> str:
                return await assistant.text(given["tool"], **given.get("arguments", {}))

            self.output = asked(Path.cwd(), script)
        else:
            super().do(block)


@pytest.mark.skipif(importlib.util.find_spec("mcp_server_time") is None, reason="mcp-server-time is not installed")
def test_each_step_of_the_page_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    reader = Calling(capfd, monkeypatch)
    reader.read(PAGE)
    assert len([block for block in blocks(PAGE) if block.kind == "call"]) >= 4


def test_every_tool_is_on_the_page() -> None:
    from bt_author.mcp.operate import tools
    from bt_author.mcp.tools.every import TOOLS

    assert {*TOOLS, *tools("last")} <= set(re.findall(r"`([\w]+)`", PAGE))
