"""Server flavours: which one a server is, and what an installed one that is broken does to the others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("llguidance", reason="needs the llm extra")

from bt_runtime import BtError
from bt_runtime.language.project import plugins
from bt_runtime.llm.server.endpoint import Endpoint
from tests.llm import servers
from tests.llm.servers import Double, Talk
from tests.plugged import plug

MODULE = """
from bt_runtime.llm import ChatServer

class Greedy(ChatServer):
    flavour = "greedy"

    @classmethod
    def knows(cls, greeting):
        return any("owned_by" in row for row in greeting.models)

class Clumsy(ChatServer):
    @classmethod
    def knows(cls, greeting):
        return greeting.models[99]

NUMBER = 5
"""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.delitem(sys.modules, "greedy_servers", raising=False)
    (tmp_path / "greedy_servers.py").write_text(MODULE)
    return tmp_path


def flavour_of(talk: Talk, name: str = "") -> str:
    with Double(talk) as double:
        endpoint = Endpoint(double.address, name=name)
        try:
            return endpoint.ready().flavour
        finally:
            endpoint.close()


@pytest.mark.parametrize(
    ("talk", "name", "flavour"),
    [(servers.vllm, "", "vllm"), (servers.ollama, "llama3.1", "ollama"), (servers.openai, "", "openai"),
     (servers.completion, "", "openai")],
)  # fmt: skip
def test_every_flavour_of_ours_is_found_by_its_entry_point(talk: Talk, name: str, flavour: str) -> None:
    """And is registered by the name that it tells."""
    assert flavour_of(talk, name) == flavour
    assert flavour in plugins.names("servers")


def test_an_installed_flavour_is_asked_before_ours(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    plug(monkeypatch, site, "greedy-1.0", {"servers": {"greedy": "greedy_servers:Greedy"}})
    assert flavour_of(servers.vllm) == "greedy"
    assert flavour_of(servers.completion) == "openai", "nobody knows that one"


@pytest.mark.parametrize("value", ["nowhere_at_all:X", "greedy_servers:NUMBER"])
def test_an_installed_flavour_that_cannot_be_had_leaves_the_others(
    value: str, monkeypatch: pytest.MonkeyPatch, site: Path
) -> None:
    plug(monkeypatch, site, "greedy-1.0", {"servers": {"greedy": value}})
    assert flavour_of(servers.vllm) == "vllm"


def test_an_installed_flavour_that_raises_is_told_by_its_distribution(
    monkeypatch: pytest.MonkeyPatch, site: Path
) -> None:
    plug(monkeypatch, site, "greedy-1.0", {"servers": {"clumsy": "greedy_servers:Clumsy"}})
    with pytest.raises(BtError, match=r"the server flavour `clumsy` of greedy 1\.0: `knows` raised IndexError"):
        flavour_of(servers.vllm)
