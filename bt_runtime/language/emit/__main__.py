"""python -m bt_runtime.language.emit: writes what is generated from the registry, schemas/ and docs/nodes/."""

from __future__ import annotations

from bt_runtime.language.emit.generated import main

if __name__ == "__main__":
    raise SystemExit(main())
