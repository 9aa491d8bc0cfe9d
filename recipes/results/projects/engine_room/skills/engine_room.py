"""An engine room: three pumps behind three valves, an engine, four gauges, an alarm, and a telephone to the bridge."""

from __future__ import annotations

from typing import Any

from bt_runtime import Status

BEHIND = {"cooling pump": "sea valve", "fuel pump": "fuel valve", "bilge pump": "drain valve"}
OPEN, CLOSED, RUNS, STANDS = "open", "closed", "running", "stopped"
START = {
    "sea valve": CLOSED, "fuel valve": CLOSED, "drain valve": CLOSED,
    "cooling pump": STANDS, "fuel pump": STANDS, "bilge pump": STANDS,
    "main engine": STANDS, "alarm": "silent",
}  # fmt: skip
GAUGES = {
    "oil gauge": "The oil pressure is 4 bar. That is normal.",
    "temperature gauge": "The temperature is 75 degrees. That is normal.",
    "bilge gauge": "The bilge is almost dry.",
    "fuel gauge": "The fuel tank is half full.",
}

parts: dict[str, str] = {}
gauges: dict[str, str] = {}
done: list[str] = []


def fresh(task: Any) -> None:
    """Before each task: all stands still and is closed, but for what the task says."""
    parts.clear()
    parts.update(START | task.data.get("at_first", {}))
    gauges.clear()
    gauges.update(GAUGES | task.data.get("gauges", {}))
    done.clear()


def as_wanted(task: Any) -> bool:
    """True when each part is as the task wants it or as it was, gauges were read where it says so, the bridge was told
    what it wants and nothing else, and the order was kept."""
    wanted = START | task.data.get("at_first", {}) | task.data.get("want", {})
    told = [each.removeprefix("report ") for each in done if each.startswith("report ")]
    order = [done.index(each) if each in done else -1 for each in task.data.get("order", ())]
    return (
        parts == wanted
        and set(told) == set(task.data.get("told", ()))
        and {f"read {gauge}" for gauge in task.data.get("read", ())} <= set(done)
        and -1 not in order
        and order == sorted(order)
    )


def _refused(why: str) -> tuple[Status, dict[str, str]]:
    return Status.FAILURE, {"why": why}


def read(gauge: str) -> str:
    done.append(f"read {gauge}")
    return gauges[gauge]


def open_valve(valve: str) -> str:
    parts[valve] = OPEN
    done.append(f"open {valve}")
    return f"The {valve} is open."


def close_valve(valve: str) -> Any:
    for pump, behind in BEHIND.items():
        if behind == valve and parts[pump] == RUNS:
            return _refused(f"The {valve} cannot be closed while the {pump} is running.")
    parts[valve] = CLOSED
    done.append(f"close {valve}")
    return f"The {valve} is closed."


def start_pump(pump: str) -> Any:
    if parts[BEHIND[pump]] == CLOSED:
        return _refused(f"The {pump} does not start because the {BEHIND[pump]} is closed.")
    parts[pump] = RUNS
    done.append(f"start {pump}")
    return f"The {pump} is running."


def stop_pump(pump: str) -> Any:
    if parts["main engine"] == RUNS and pump != "bilge pump":
        return _refused(f"The main engine needs the {pump}. Stop the engine first.")
    parts[pump] = STANDS
    done.append(f"stop {pump}")
    return f"The {pump} has stopped."


def start_engine() -> Any:
    for pump in ("cooling pump", "fuel pump"):
        if parts[pump] == STANDS:
            return _refused(f"The engine does not start because the {pump} is not running.")
    parts["main engine"] = RUNS
    done.append("start main engine")
    return "The main engine is running."


def stop_engine() -> str:
    parts["main engine"] = STANDS
    done.append("stop main engine")
    return "The main engine has stopped."


def silence() -> str:
    parts["alarm"] = "silent"
    return "The alarm is silent."


def report(news: str) -> str:
    done.append(f"report {news}")
    return "The bridge thanks you."
