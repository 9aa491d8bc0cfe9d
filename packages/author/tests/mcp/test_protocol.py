"""What the protocol requires of a server, held by a client of our own that knows only JSON-RPC: no SDK on its side."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.language.project import child
from packages.author.tests.mcp.assistant import command
from packages.author.tests.mcp.conftest import CODE, MANIFEST, TREE

PATIENCE = 60.0
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


class Peer:
    """Lines of JSON to a server's input, and from its output."""

    def __init__(self, root: Path) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command(str(root)), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=child.environment()
        )
        self.heard: queue.Queue[dict[str, Any]] = queue.Queue()
        self.listening = threading.Thread(target=self._listen, daemon=True)
        self.listening.start()
        self.number = 0

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.heard.put(json.loads(line))

    def write(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def tell(self, method: str, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def send(self, method: str, **params: Any) -> int:
        self.number += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
        return self.number

    def answer(self, number: Any) -> dict[str, Any]:
        """The answer of this number; notifications between are left out."""
        while True:
            message = self.heard.get(timeout=PATIENCE)
            if message.get("id") == number and "method" not in message:
                assert message["jsonrpc"] == "2.0" and ("result" in message) != ("error" in message)
                return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.answer(self.send(method, **params))

    def hello(self, version: str = "2025-06-18") -> dict[str, Any]:
        client = {"name": "raw", "version": "1"}
        found = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.tell("notifications/initialized")
        return found

    def close(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self.listening.join(PATIENCE)


@pytest.fixture
def fresh(project: Path) -> Iterator[Peer]:
    made = Peer(project)
    yield made
    made.close()


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """A server that was greeted, for all that follows."""
    root = tmp_path_factory.mktemp("spoken")
    for name, text in (("btr.yaml", "version: 1\n"), ("trees/rounds.yaml", TREE), ("skills/rover.yaml", MANIFEST)):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    (root / "skills" / "rover.py").write_text(CODE)
    made = Peer(root)
    made.hello()
    yield made
    made.close()


def test_it_greets_answers_pings_and_ends_with_its_input(fresh: Peer) -> None:
    """The answer to `initialize` has the version, the capabilities and a name; closing the input ends the process."""
    result = fresh.hello()["result"]
    assert result["protocolVersion"] == "2025-06-18" and {"name", "version"} <= set(result["serverInfo"])
    assert {"tools", "resources", "prompts"} <= set(result["capabilities"])
    assert fresh.ask("ping")["result"] == {}
    assert fresh.close() == 0


@pytest.mark.parametrize("wanted", [VERSIONS[0], "1999-01-01"])
def test_it_speaks_the_version_that_is_asked_for_or_offers_one_of_its_own(fresh: Peer, wanted: str) -> None:
    given = fresh.hello(wanted)["result"]["protocolVersion"]
    assert given == wanted if wanted in VERSIONS else given in VERSIONS


def test_errors_have_the_codes_of_the_protocol_and_end_nothing(peer: Peer) -> None:
    """No such method, wrong parameters, an unknown tool, resource and prompt, and lines that are no messages."""
    assert peer.ask("no/such_method")["error"]["code"] == -32601
    assert peer.ask("tools/call")["error"]["code"] == -32602
    assert peer.ask("resources/read", uri="btr://tree/nope")["error"]["code"] in (-32602, -32002)
    assert peer.ask("prompts/get", name="nope")["error"]["code"] == -32602
    unknown = peer.ask("tools/call", name="nope", arguments={})
    assert unknown.get("error", {}).get("code") == -32602 or unknown["result"]["isError"] is True
    for line in ("{", '"text"', '{"jsonrpc": "1.0"}', "\x00", "{" * 5_000):
        peer.write(line)
    peer.tell("notifications/nobody_knows")
    assert peer.ask("ping")["result"] == {}


def test_tools_have_schemas_and_their_failures_are_results(peer: Peer) -> None:
    tools = peer.ask("tools/list")["result"]["tools"]
    assert len(tools) == len({tool["name"] for tool in tools}) >= 16
    assert all(tool["inputSchema"]["type"] == "object" and tool["description"] for tool in tools)
    failed = peer.ask("tools/call", name="try", arguments={"tree": "nope"})["result"]
    assert failed["isError"] is True and failed["content"][0]["type"] == "text"
    sound = peer.ask("tools/call", name="validate", arguments={"tree": "rounds"})["result"]
    assert not sound.get("isError") and sound["structuredContent"]["sound"] is True


def test_a_long_list_has_pages_and_a_cursor_of_nobody_hangs_nothing(peer: Peer) -> None:
    """Pages together are the whole list, without doubles."""
    page = peer.ask("resources/list")["result"]
    found = [each["uri"] for each in page["resources"]]
    while (cursor := page.get("nextCursor")) is not None:
        page = peer.ask("resources/list", cursor=cursor)["result"]
        found += [each["uri"] for each in page["resources"]]
    assert len(found) == len(set(found)) > 50
    odd = peer.ask("resources/list", cursor="nobody's")
    assert "error" in odd or odd["result"]["resources"]


def test_a_cancelled_call_is_answered_at_most_once_and_others_go_on(peer: Peer) -> None:
    number = peer.send("tools/call", name="fuzz", arguments={"tree": "rounds", "runs": 200, "never": ["1 > 2"]})
    peer.tell("notifications/cancelled", requestId=number, reason="enough")
    peer.tell("notifications/cancelled", requestId=9_999)
    last = peer.send("ping")
    seen = []
    while last not in seen:
        message = peer.heard.get(timeout=PATIENCE)
        seen.append(message.get("id"))
    assert seen.count(number) <= 1
    assert peer.ask("ping")["result"] == {}
