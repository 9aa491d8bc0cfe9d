"""A vehicle does what a master control asks that is not ours: the client of `vda5050-sdk`, over mosquitto.

Every message of the vehicle is held against the specification's own schemas (2.1), which that package carries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vda5050", reason="vda5050-sdk is not installed")
pytest.importorskip("paho.mqtt.client", reason="needs the fleet extra")

from vda5050.client.master import MasterClient
from vda5050.config import MasterConfig
from vda5050.domain.order.builder import OrderBuilder
from vda5050.model.common import NodePosition
from vda5050.model.order import Edge, Node

from bt_fleet.server.server import free_port
from packages.fleet.tests.control import MOSQUITTO, Control, broker, official, vehicle
from packages.fleet.tests.test_adapters import MAKER
from packages.fleet.tests.yard import make, truth

VEHICLE = "acme/r7"
pytestmark = pytest.mark.skipif(MOSQUITTO is None, reason="mosquitto is not installed: apt-get install mosquitto")


def node(number: int, released: bool = True) -> Any:
    place = NodePosition(x=float(number), y=0.0, map_id="hall")
    return Node(node_id=f"n{number}", sequence_id=0, released=released, actions=[], node_position=place)


def edge(number: int, released: bool = True) -> Any:
    a, b = f"n{number}", f"n{number + 1}"
    return Edge(edge_id=f"{a}-{b}", sequence_id=0, released=released, start_node_id=a, end_node_id=b, actions=[])


def order(id: str, first: int, last: int, base: int) -> Any:
    """An order from one node to another, released up to `base`."""
    made = OrderBuilder(order_id=id, manufacturer="acme", serial_number="r7")
    numbers = range(first, last + 1)
    made._nodes = [node(n, n <= base).model_copy(update={"sequence_id": 2 * i}) for i, n in enumerate(numbers)]
    made._edges = [
        edge(n, n + 1 <= base).model_copy(update={"sequence_id": 2 * i + 1}) for i, n in enumerate(numbers[:-1])
    ]
    return made.build()


class Foreign:
    """The foreign client, and the states that it has taken."""

    def __init__(self, port: int) -> None:
        self.client = MasterClient(MasterConfig(broker_url=f"mqtt://127.0.0.1:{port}"))
        self.states: list[Any] = []
        self.refused: list[str] = []  # messages of the vehicle that the client could not take
        self.client.on_state(lambda *given: self.states.append(next(g for g in given if hasattr(g, "last_node_id"))))
        self.client.on_error(lambda *given: self.refused.append(str(given)))

    async def until(self, holds: Callable[[Any], object]) -> None:
        async with asyncio.timeout(60):
            while not (self.states and holds(self.states[-1])):
                await asyncio.sleep(0.02)

    def status(self, id: str) -> str:
        states = [each for each in self.states[-1].action_states if each.action_id == id]
        return str(states[0].action_status).rpartition(".")[2] if states else ""


async def orders(port: int) -> Foreign:
    """An order whose base is extended on the way; one that is paused, goes on, and is cancelled; a new position."""
    foreign = Foreign(port)
    client = foreign.client
    await client.connect()
    await client.request_state(VEHICLE)
    await foreign.until(lambda s: s)
    await client.request_factsheet(VEHICLE)
    await client.dispatch(order("f1", 0, 2, base=1), VEHICLE)
    await foreign.until(lambda s: s.last_node_id == "n0")
    await client.extend_base(VEHICLE, [node(2), node(3)], [edge(1), edge(2)])
    await foreign.until(lambda s: s.last_node_id == "n3" and not s.driving)
    await client.dispatch(order("f2", 3, 6, base=6), VEHICLE)
    await foreign.until(lambda s: s.order_id == "f2" and s.last_node_id == "n3" and s.driving)
    await client.pause(VEHICLE)
    await foreign.until(lambda s: s.paused and not s.driving and foreign.status("pause") == "FINISHED")
    await client.resume(VEHICLE)
    await foreign.until(lambda s: s.last_node_id == "n4" and s.driving)
    await client.cancel_order(VEHICLE, action_id="c1")
    await foreign.until(lambda s: foreign.status("c1") == "FINISHED" and not s.node_states and not s.driving)
    await client.init_position(VEHICLE, x=4.0, y=0.0, theta=0.0, map_id="hall", last_node_id="n9")
    await foreign.until(lambda s: s.last_node_id == "n9")
    await client.disconnect()
    return foreign


def test_a_foreign_control_leads_the_vehicle(tmp_path: Path) -> None:
    """Each node is reached once and in order; the pause does not end the order, and the cancel does. The client takes
    each message, and the specification's schemas allow each."""
    port, folder = free_port("127.0.0.1"), make(tmp_path / "agv")
    sheet = tmp_path / "type.json"
    sheet.write_text(json.dumps(MAKER))
    assert {"state", "connection", "factsheet"} <= official().keys()
    with broker(tmp_path, port), vehicle(folder, port, "--factsheet", str(sheet), YARD_POLLS="15"):
        control = Control(port)
        control.until(lambda c: c.states)
        foreign = asyncio.run(orders(port))
        control.close()
    assert (control.wrong, foreign.refused) == ([], [])
    reached, expected = truth(folder, "at"), ["n0", "n1", "n2", "n3", "n3", "n4"]
    assert (reached[:6], reached[6:]) in ((expected, []), (expected, ["n5"]))
