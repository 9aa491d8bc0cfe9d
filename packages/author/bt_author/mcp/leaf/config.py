"""The servers of a project: `servers:` in its btr.yaml. Secrets are named by their variables, and read when a server is
started."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.project import PROJECT_FILE, find_root
from bt_runtime.language.project.trust import beyond
from bt_runtime.language.project_file import LAID_OUT
from bt_runtime.language.settings import read_project
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Kind

HOME = "mcp"
TIMEOUT = 60.0  # seconds for one call
START = 30.0  # seconds until a server has to be ready
MOST = 1_000_000  # bytes of one message
SHORTEST_SECRET = 6  # characters; a shorter value stands in any text by chance
_SECRET = re.compile(r"\$([A-Za-z_]\w*)")


@dataclass(frozen=True)
class ServerConfig:
    """One server, as the project file has it."""

    name: str
    root: Path
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    tools: frozenset[str] | None = None  # allowed tools; None: those that a manifest names
    timeout: float = TIMEOUT
    start: float = START
    most: int = MOST

    @property
    def shown(self) -> str:
        """The command or the address, as a person wrote it."""
        return " ".join(self.command) or self.url

    def allows(self, tool: str) -> bool:
        return self.tools is None or tool in self.tools

    def secrets(self, texts: Mapping[str, str] | None) -> dict[str, str]:
        """The texts with their variables filled in; raises for one that is not set."""
        return {key: _SECRET.sub(lambda found: self._variable(found[1]), text) for key, text in (texts or {}).items()}

    def blotted(self, value: Json) -> Json:
        """The same without the values of secrets: a server may repeat what it was given."""
        if isinstance(value, str):
            for name, secret in self._hidden().items():
                value = value.replace(secret, f"(the secret {name})")
        elif isinstance(value, dict):
            return {key: self.blotted(each) for key, each in value.items()}
        elif isinstance(value, list):
            return [self.blotted(each) for each in value]
        return value

    def _hidden(self) -> dict[str, str]:
        texts = [*(self.env or {}).values(), *(self.headers or {}).values()]
        names = dict.fromkeys(name for text in texts for name in _SECRET.findall(text))
        return {name: value for name in names if len(value := os.environ.get(name, "")) >= SHORTEST_SECRET}

    def _variable(self, name: str) -> str:
        value = os.environ.get(name)
        if not value:
            raise BtError(f"the server `{self.name}` needs the variable {name}, which is not set", f"export {name}=…")
        return value


def servers(root: Path | None) -> dict[str, ServerConfig]:
    """All servers of a project."""
    found = read_project(root).values.get("servers") if root is not None else None
    listed: Any = found[0] if found is not None else {}
    return {name: _config(name, given, root) for name, given in listed.items() if root is not None}


def _config(name: str, given: Mapping[str, Any], root: Path) -> ServerConfig:
    if ("command" in given) == ("url" in given):
        raise BtError(
            f"{PROJECT_FILE}: the server `{name}` has a `command` or a `url`, one of them", "docs/assistants.md"
        )
    tools = frozenset(given["tools"]) if "tools" in given else None
    plain = {key: given[key] for key in ("url", "env", "headers", "timeout", "start", "most") if key in given}
    return ServerConfig(name, root, tuple(given.get("command", ())), tools=tools, **plain)


def find(name: str, root: Path | None) -> ServerConfig:
    known = servers(root)
    if name not in known:
        hint = did_you_mean(name, known, f"write it into {PROJECT_FILE}: servers: {{{name}: {{command: […]}}}}")
        raise BtError(f"{PROJECT_FILE} names no server `{name:.60}`", hint)
    return known[name]


def root_of(folder: Path) -> Path | None:
    """The project whose servers a manifest of this folder means. For a run that is made again from its journal that is
    the project where one stands: a journal names no servers."""
    root = find_root(folder)
    return find_root() if root is not None and read_project(root).text.startswith(LAID_OUT) else root


def named(impl: str) -> tuple[str, str]:
    """`mcp/time/convert` → time, convert."""
    _, server, tool = impl.split("/", 2)
    return server, tool


def check(kind: Kind) -> Iterator[tuple[str, str, str]]:
    """What is wrong with a manifest's skill, as far as files tell: no server is asked."""
    entry = kind.data["entry"]
    server, tool = named(entry.impl)
    root = find_root(Path(entry.folder))
    if root is not None and read_project(root).text.startswith(LAID_OUT):
        return  # nothing is started to replay; `btr runs resume` tells when it is
    try:
        config = find(server, root)
    except BtError as error:
        yield "impl", error.message, error.hint
        return
    if not config.allows(tool):
        yield "impl", f"the server `{server}` is not allowed the tool `{tool}`", f"add it to `tools:` in {PROJECT_FILE}"


def reasons(impls: Iterator[tuple[str, Path]]) -> Iterator[str]:
    """What running skills of these implementations starts or sends, for the question about trust."""
    for impl, folder in impls:
        server, _ = named(impl)
        try:
            config = find(server, root_of(folder))
        except BtError:
            continue  # the run says so
        if config.command:
            yield f"the server `{server}` is started: {config.shown}"
        elif beyond(config.url):
            yield f"the server `{server}` is asked: {config.url}"
