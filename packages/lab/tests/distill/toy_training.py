"""A training of the smallest model, for tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from bt_lab.distill import checkpoint
from bt_lab.distill.checkpoint import LATEST
from bt_lab.distill.schedule import Schedule
from bt_lab.distill.size import SIZES
from bt_lab.distill.training import Training

SCHEDULE = Schedule(tokens=30_000, batch=1024, warm=5, compile=False, tell_every=0, save_every=0, look_every=1e9)


def training(places, folder: Path, words, schedule: Schedule = SCHEDULE, tell=lambda _: None, init=None) -> Training:
    return Training([places], folder, words, replace(SIZES["toy"], vocab=words.size, context=256), schedule, tell, init)


def weights(folder: Path) -> dict:
    return checkpoint.load(folder / LATEST)[2]


def same(one: dict, two: dict) -> bool:
    return all(torch.equal(one[name], two[name]) for name in one)


TWO = replace(SCHEDULE, processes=2)
