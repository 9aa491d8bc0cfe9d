"""A client of a language server over its standard streams: just enough to ask what an editor would show."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds until a silent server counts as broken


class Server:
    """One running server. Documents name their schema by a modeline, as people's files do."""

    def __init__(self, command: Sequence[str], folder: Path, **more: Any) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, **more)
        self.folder = folder
        self.answers: dict[int, queue.Queue[Any]] = {}
        self.shown: queue.Queue[dict[str, Any]] = queue.Queue()
        self.count = 0
        self.lock = threading.Lock()
        self.reader = threading.Thread(target=self.listen, daemon=True)
        self.reader.start()
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": _CAPABILITIES})
        self.tell("initialized", {})
        self.tell("workspace/didChangeConfiguration", {"settings": {"yaml": _SETTINGS}})

    def diagnostics(self, name: str, text: str) -> list[dict[str, Any]]:
        """What the server says about a document that was just opened."""
        uri = self.open(name, text)
        while True:
            shown = self.shown.get(timeout=PATIENCE)
            if shown["uri"] == uri:
                found: list[dict[str, Any]] = shown["diagnostics"]
                self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
                return found

    def completions(self, name: str, text: str, line: int, character: int) -> dict[str, Any]:
        """Label → item, at a place counted from 0."""
        uri = self.open(name, text)
        where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        items = self.ask("textDocument/completion", where)["items"]
        return {item["label"]: item for item in items}

    def hover(self, name: str, text: str, line: int, character: int) -> str:
        uri = self.open(name, text)
        where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return str(self.ask("textDocument/hover", where)["contents"]["value"])

    def open(self, name: str, text: str) -> str:
        uri = (self.folder / name).as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return uri

    def change(self, uri: str, version: int, text: str, where: Any = None) -> None:
        """The whole text, or what is put at a range."""
        change = {"text": text} | ({"range": where} if where is not None else {})
        self.tell("textDocument/didChange",
                  {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]})  # fmt: skip

    def told(self, uri: str, version: int | None = None) -> list[dict[str, Any]]:
        """What is said next about a document; of this version, if one is named."""
        while True:
            shown = self.shown.get(timeout=PATIENCE)
            if shown["uri"] == uri and (version is None or shown.get("version") == version):
                found: list[dict[str, Any]] = shown["diagnostics"]
                return found

    def about(self, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
        """An answer about a place, counted from 0."""
        where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}, **more}
        return self.ask(f"textDocument/{method}", where)

    def close(self) -> None:
        self.ask("shutdown", None)
        self.tell("exit", None)
        assert self.process.stdin and self.process.stdout
        self.process.wait(timeout=PATIENCE)
        self.reader.join(timeout=PATIENCE)
        self.process.stdin.close()
        self.process.stdout.close()

    # The wire --------------------------------------------------------------------------------

    def ask(self, method: str, params: Any) -> Any:
        with self.lock:
            self.count += 1
            number = self.count
        waiting = self.answers[number] = queue.Queue()
        self.send({"id": number, "method": method, "params": params})
        answer = waiting.get(timeout=PATIENCE)
        assert "error" not in answer, answer
        return answer.get("result")

    def tell(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin
        with self.lock:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.process.stdin.flush()

    def listen(self) -> None:
        while (message := self.receive()) is not None:
            if "method" not in message:
                self.answers[message["id"]].put(message)
            elif message["method"] == "textDocument/publishDiagnostics":
                self.shown.put(message["params"])
            elif "id" in message:
                items = (message.get("params") or {}).get("items", [])
                settings = [_SETTINGS if item.get("section") == "yaml" else {} for item in items]
                result = settings if message["method"] == "workspace/configuration" else None
                self.send({"id": message["id"], "result": result})

    def receive(self) -> dict[str, Any] | None:
        assert self.process.stdout
        length = 0
        while (line := self.process.stdout.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not line:
            return None
        found: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return found


_SETTINGS = {"validate": True, "completion": True, "hover": True, "schemaStore": {"enable": False}}
_CAPABILITIES = {
    "workspace": {"configuration": True},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True},
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
        "hover": {"contentFormat": ["markdown"]},
    },
}
