"""The factsheet: what is done here of VDA 5050, beside what the maker says of the vehicle's type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bt_fleet.standards.vda5050.messages import VERSION, faults
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

OF_THE_MAKER = ("typeSpecification", "physicalParameters", "agvGeometry", "loadSpecification")
INSTANT = ("cancelOrder", "startPause", "stopPause", "stateRequest", "factsheetRequest", "initPosition")
_USED = ("order.nodes.nodePosition", "order.nodes.nodePosition.theta", "order.edges.maxSpeed",
         "order.nodes.actions.actionParameters", "order.edges.actions.actionParameters")  # fmt: skip


def factsheet(maker: Mapping[str, Json], state_interval: float) -> dict[str, Json]:
    """Returns the body of the message. The maker may also list actions of nodes and edges, in `agvActions`."""
    instant: list[Json] = [{"actionType": word, "actionScopes": ["INSTANT"]} for word in INSTANT]
    own = maker.get("agvActions", [])
    return {
        **{name: maker[name] for name in OF_THE_MAKER},
        "protocolLimits": {
            "maxStringLens": {}, "maxArrayLens": {},
            "timing": {"minOrderInterval": 0.0, "minStateInterval": 0.0, "defaultStateInterval": state_interval},
        },
        "protocolFeatures": {
            "optionalParameters": [{"parameter": name, "support": "SUPPORTED"} for name in _USED],
            "agvActions": [*instant, *(own if isinstance(own, list) else ())],
        },
    }  # fmt: skip


def read(file: Path) -> dict[str, Json]:
    """Returns what a maker's file says; BtError where it does not make a sound factsheet."""
    try:
        maker: dict[str, Any] = json.loads(file.read_text("utf-8"))
        body = factsheet(maker, 30.0)
    except (OSError, ValueError) as error:
        raise BtError(f"{file} cannot be read: {error}", "it is JSON") from error
    except (KeyError, AttributeError, TypeError) as error:
        raise BtError(f"{file} lacks {error}", f"it has {', '.join(OF_THE_MAKER)}") from error
    header = {"headerId": 0, "timestamp": "", "version": VERSION, "manufacturer": "", "serialNumber": ""}
    if wrong := faults("factsheet", {**header, **body}):
        raise BtError(f"{file}: {wrong[0]}", "VDA 5050 says what its values may be")
    return maker
