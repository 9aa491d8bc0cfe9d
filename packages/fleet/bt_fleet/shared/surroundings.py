"""The variables by which a run that a robot's agent starts finds the fleet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bt_fleet.server.link import Address

if TYPE_CHECKING:  # an agent names the variables; its runs join by them
    from bt_fleet.shared.member import Member

ROBOT, SERVER = "BTR_FLEET_ROBOT", "BTR_FLEET_SERVER"
PERSON = "BTR_PERSON"  # the runtime's variable: who answers a run's questions, by an entry point
CREDS, AUTHORITY = "BTR_FLEET_CREDS", "BTR_FLEET_CA"  # files


def environment(address: Address, robot: str) -> dict[str, str]:
    found = {ROBOT: robot, SERVER: address.url, PERSON: "fleet"}
    for name, file in ((CREDS, address.creds), (AUTHORITY, address.ca)):
        if file is not None:
            found[name] = str(file.resolve())
    return found


def from_environment() -> Member | None:
    """Joins the fleet that the environment names; None where it names none."""
    robot, url = os.environ.get(ROBOT), os.environ.get(SERVER)
    if not robot or not url:
        return None
    from bt_fleet.shared.member import Member

    creds, authority = (Path(given) if (given := os.environ.get(name)) else None for name in (CREDS, AUTHORITY))
    return Member(Address(url, creds=creds, ca=authority), robot)
