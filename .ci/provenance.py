"""States where the files of a release come from: an in-toto statement with SLSA's predicate, unsigned.

`python .ci/provenance.py FOLDER COMMIT` writes FOLDER/provenance.json; the wheels' SBOMs are named in it as well."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path


def statement(folder: Path, commit: str) -> dict[str, object]:
    files = sorted(path for path in folder.iterdir() if path.suffix in (".whl", ".gz") or path.name.endswith(".cdx.json"))
    subject = [{"name": path.name, "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}} for path in files]
    tools = {"python": platform.python_version(), **{name: version(name) for name in ("build", "hatchling")}}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subject,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "https://packaging.python.org/en/latest/specifications/pyproject-toml/",
                "externalParameters": {"script": ".ci/release"},
                "internalParameters": tools,
                "resolvedDependencies": [{"name": "source", "digest": {"gitCommit": commit}}],
            },
            "runDetails": {"builder": {"id": ".ci/release"}},
        },
    }


if __name__ == "__main__":
    place = Path(sys.argv[1])
    (place / "provenance.json").write_text(json.dumps(statement(place, sys.argv[2]), indent=1) + "\n", "utf-8")
