"""The ledger of the starter's generations: what each one saw and what it is measured on, by digest (`ledger.yaml`).

    python -m recipes.starter.ledger heldout --data DIR        the held-out sets as they are made now
    python -m recipes.starter.ledger lessons build/lessons     the shards of a training, for the next entry

Held-out sets are fixed before training. A set that needs data of others names its kind of data only."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from bt_lab.distill import documents
from bt_runtime.skills.worlds.registry import open_suite
from bt_runtime.types import Task
from recipes.starter.data import read


class HeldOut(NamedTuple):
    """Tasks that no lesson has: how a suite is asked for them, and what came then."""

    name: str
    suite: str
    seed: int
    size: int
    kinds: tuple[str, ...]
    options: Mapping[str, Any]
    data: str  # of others, below the data folder: "" where it needs none
    digest: str

    def tasks(self, data: Path | None = None) -> list[Task]:
        options = {**self.options, **({"data": data / self.data} if self.data and data else {})}
        return open_suite(self.suite).tasks(self.seed, self.size, "eval", list(self.kinds) or None, **options)


def held_out() -> list[HeldOut]:
    """The sets of the ledger, in its order."""
    return [
        HeldOut(
            name, row["suite"], row["seed"], row["tasks"], tuple(row.get("kinds", ())), row.get("options", {}),
            row.get("data", ""), row["digest"],
        )
        for name, row in read("ledger")["held_out"].items()
    ]  # fmt: skip


def digest_of(tasks: Iterable[Task]) -> str:
    """One digest of all tasks, whatever their order."""
    each = sorted(blake2b(repr((t.goal, sorted(t.data.items(), key=str))).encode()).hexdigest() for t in tasks)
    return blake2b("\n".join(each).encode(), digest_size=8).hexdigest()


def shards(folder: Path) -> dict[str, dict[str, Any]]:
    """Shard → how many documents it has, and its digest."""
    return {
        path.name.removesuffix(documents.SUFFIX): {
            "documents": path.read_bytes().count(b"\n"),
            "digest": documents.digest(path.read_bytes())[:16],
        }
        for path in sorted(folder.glob(f"*{documents.SUFFIX}"))
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m recipes.starter.ledger", description=__doc__)
    parser.add_argument("what", choices=("heldout", "lessons"))
    parser.add_argument("folder", nargs="*", type=Path)
    parser.add_argument("--data", type=Path)
    args = parser.parse_args()
    if args.what == "lessons":
        for folder in args.folder:
            sys.stdout.write(yaml.safe_dump(shards(folder), default_flow_style=None, width=120))
        return 0
    changed = 0
    for each in held_out():
        if each.data and args.data is None:
            print(f"{each.name}: needs data")
            continue
        found = digest_of(each.tasks(args.data))
        changed += found != each.digest
        print(f"{each.name}: {found}{'' if found == each.digest else f', the ledger has {each.digest}'}")
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
