"""A tree that sorts messages of a farm."""

from __future__ import annotations

FARM = """\
version: 1
tree: farm
inputs: {message: string}
outputs: {team: {type: string, default: ""}}
root:
  infer:
    prompt: "A message: {message}"
    outputs:
      team: {choices: [animals, crops, machines], about: who of the farm sees to it}
"""
