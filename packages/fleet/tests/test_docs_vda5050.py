"""docs/vda5050.md is true: its project is a vehicle, and its program a master control that sees an order done."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("paho.mqtt.client", reason="needs the fleet extra")

from bt_fleet.server.server import free_port
from bt_fleet.standards.vda5050.factsheet import INSTANT
from bt_fleet.standards.vda5050.messages import FACTS
from bt_runtime.language.loader import Loader
from packages.fleet.tests.control import MOSQUITTO, Control, broker, vehicle
from packages.fleet.tests.yard import instant

PAGE = (Path(__file__).parents[3] / "docs" / "vda5050.md").read_text("utf-8")
FILES = re.findall(r'^```\w+ title="(\S+)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
PROGRAM = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(MOSQUITTO is None, reason="mosquitto is not installed: apt-get install mosquitto")
def test_the_vehicle_of_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page's project and its command are a vehicle, which does the order of the page's program and an
    `initPosition`; each state is sound."""
    port = free_port("127.0.0.1")
    for name, text in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert "btr fleet vda5050 --robot r7 --mqtt 127.0.0.1:1883 --manufacturer acme" in PAGE
    for name, _ in FILES:
        if name.startswith("trees"):
            assert [str(each) for each in Loader(tmp_path).file(tmp_path / name).diagnostics] == []
    with broker(tmp_path, port), vehicle(tmp_path, port):
        control = Control(port)
        control.until(lambda c: c.states)
        exec(compile(PROGRAM[0].replace("1883", str(port)), "docs/vda5050.md", "exec"), {"__name__": "page"})
        assert capsys.readouterr().out == "a b c\n"
        control.until(lambda c: not c.state["driving"])
        control.send(instant("initPosition", x=3.0, y=4.0, theta=0.0, mapId="hall", lastNodeId="k"))
        control.until(lambda c: c.state["lastNodeId"] == "k" and c.state["agvPosition"]["x"] == 3.0)
        control.close()
        assert control.wrong == []


def test_the_page_names_each_fact_and_each_instant_action() -> None:
    assert [name for name in (*FACTS, *INSTANT) if f"`{name}`" not in PAGE] == []
