"""Imports the packages that training needs and a light install lacks, in one place."""

from __future__ import annotations

from bt_runtime.language.faults.extra import Extra

with Extra("distill", "training a model"):
    import numpy as np
    import torch
    from torch import nn
    from torch.nn import functional

__all__ = ["functional", "nn", "np", "torch"]
