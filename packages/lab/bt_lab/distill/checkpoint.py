"""The state of a training run as a file, from which the run continues exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bt_lab.distill.torch_imports import torch
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.types import Json

LATEST, STEADY = "latest.pt", "steady.pt"  # STEADY: before the rate began to fall, from where a run can be prolonged


@dataclass(slots=True)
class State:
    """The state of a training run. Random choices follow from the seed, the epoch and the batch, so nothing else is
    stored."""

    epoch: int = 0
    batch: int = 0  # batch within the epoch
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    fallen: bool = False  # the rate is below its height
    shards: list[tuple[str, str]] = field(default_factory=list)  # the epoch's shards: path, digest
    data: str = ""  # digest of the latest epoch's documents
    documents: int = 0
    curve: list[dict[str, Json]] = field(default_factory=list)


def save(path: Path, state: State, about: dict[str, Json], weights: Any, optimiser: Any) -> None:
    """Saves atomically: a kill leaves the former checkpoint."""
    kept = {name: getattr(state, name) for name in State.__slots__}
    with disk.draft(path) as partial:
        torch.save({"about": about, "state": kept, "weights": weights, "optimiser": optimiser}, partial)


def load(path: Path) -> tuple[State, dict[str, Json], Any, Any]:
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
        return State(**found["state"]), found["about"], found["weights"], found["optimiser"]
    except FileNotFoundError:
        raise BtError(f"there is no checkpoint {path}", "name the latest.pt in the work folder of a run") from None
    except Exception as fault:  # torch raises whatever it stumbles over
        raise BtError(f"{path} is not a checkpoint of a training run: {fault}", "remove it to begin anew") from fault


def lightened(path: Path, out: Path) -> None:
    """Writes a smaller copy of a checkpoint, for transfer: half as many bits a weight, without the optimiser, whose
    momentum recovers after some steps."""
    state, about, weights, _ = load(path)
    save(out, state, about, {name: weight.half() for name, weight in weights.items()}, {})
