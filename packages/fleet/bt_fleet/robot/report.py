"""A robot's report on a task, so that a coordinator can read it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from bt_fleet.robot.held import Own
from bt_fleet.server import forms, messages
from bt_fleet.server.messages import Malformed

_LONGEST = 2000  # characters of a reason


def of(own: Own, at: float, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the report. Outputs that a coordinator could not read are left out, and the reason says so."""
    reason = str(body.get("reason", ""))[:_LONGEST].encode("utf-8", "replace").decode()
    report = {**body, "reason": reason, "task": own.task.id, "term": own.term, "id": secrets.token_hex(8),
              "at": round(at, 3)}  # fmt: skip
    try:
        messages.read(forms.REPORT, json.dumps(report).encode())
    except (Malformed, RecursionError) as error:
        why = error.message if isinstance(error, Malformed) else "they are nested too deeply"
        return {**report, "outputs": None, "reason": f"{reason} (its outputs were left out: {why})".strip()}
    return report
