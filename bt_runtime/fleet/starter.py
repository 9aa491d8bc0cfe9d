"""Becomes another program that ends with its parent: `python -m bt_runtime.fleet.starter PROGRAM WORDS…`."""

from __future__ import annotations

import os
import sys

from bt_runtime.project import orphan


def main() -> None:
    orphan.heed()  # what was asked of Linux holds for the program as well
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
