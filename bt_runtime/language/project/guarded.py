"""Starts a foreign program so that it ends with us: this process asks to be killed when its parent dies, then it
becomes the command.

    python -P -m bt_runtime.language.project.guarded COMMAND…

What it was given to find this module with is not handed on.
"""

from __future__ import annotations

import os
import sys

from bt_runtime.language.project import orphan


def main() -> None:
    orphan.heed()
    for name in ("PYTHONPATH", "PYTHONSAFEPATH"):
        os.environ.pop(name, None)
    try:
        os.execvp(sys.argv[1], sys.argv[1:])
    except OSError as error:
        print(f"{sys.argv[1]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


if __name__ == "__main__":
    main()
