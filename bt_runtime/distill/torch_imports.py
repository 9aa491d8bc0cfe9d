"""Imports the packages that training needs and a light install lacks, in one place."""

from __future__ import annotations

from bt_runtime.faults.diagnostic import MissingExtra

try:
    import numpy as np
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as absent:
    raise MissingExtra("training a model", "distill") from absent

__all__ = ["functional", "nn", "np", "torch"]
