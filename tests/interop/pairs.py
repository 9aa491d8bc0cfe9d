"""The same trees twice: as ours, and as BehaviorTree.CPP's own, each behind its own publisher; ticked step by step."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bt_runtime as bt
from bt_runtime.interop.groot2.publisher import Groot2

YAML = """version: 1
tree: Main
root:
  sequence:
    name: top
    children:
      - fallback:
          - invert: {child: {succeed: {}}}
          - opened: {name: door}
      - parallel:
          success: 2
          children:
            - steps: {name: left, n: 3}
            - sequence:
                - steps: {name: first, n: 1}
                - steps: {name: second, n: 5}
      - refused: {name: last}
"""
XML = """<root BTCPP_format="4" main_tree_to_execute="Main"><BehaviorTree ID="Main">
  <Sequence name="top">
    <Fallback><Inverter><AlwaysSuccess/></Inverter><opened name="door"/></Fallback>
    <Parallel success_count="2">
      <steps name="left"/>
      <Sequence><steps name="first"/><steps name="second"/></Sequence>
    </Parallel>
    <refused name="last"/>
  </Sequence>
</BehaviorTree></root>"""
TICKS = 7
