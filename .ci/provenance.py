"""States where the files of a release come from: an in-toto statement with SLSA's predicate, unsigned.

`python .ci/provenance.py FOLDER COMMIT` writes FOLDER/provenance.json. The wheels' SBOMs are named in it as well, and
lose the addresses of files on the machine that built them."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path


def statement(folder: Path, commit: str) -> dict[str, object]:
    files = sorted(
        path for path in folder.iterdir() if path.suffix in (".whl", ".gz") or path.name.endswith(".cdx.json")
    )
    subject = [
        {"name": path.name, "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}} for path in files
    ]
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


def without_places(bom: Path) -> None:
    """Removes references to files of this machine."""
    found = json.loads(bom.read_text("utf-8"))
    for part in found.get("components", []):
        if kept := [each for each in part.pop("externalReferences", []) if not each["url"].startswith("file:")]:
            part["externalReferences"] = kept
    bom.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    for each in place.glob("*.cdx.json"):
        without_places(each)
    (place / "provenance.json").write_text(json.dumps(statement(place, sys.argv[2]), indent=1) + "\n", "utf-8")
