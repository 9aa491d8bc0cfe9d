"""Checks the types of the pages' scripts by tsc: each page with the scripts that it loads, in their order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
VIEW = ROOT / "bt_runtime" / "run" / "view" / "page"
EDIT = ROOT / "packages" / "author" / "bt_author" / "edit" / "page"
OPTIONS = ["--noEmit", "--allowJs", "--checkJs", "--skipLibCheck", "--target", "es2023", "--strict", "false"]
OPTIONS += ["--lib", "es2024,dom,dom.iterable"]


def scripts(page: Path) -> list[Path]:
    """Returns the scripts of a page; one that it does not have is shared with the page of a run."""
    names = re.findall(r'<script src="(\w+\.js)"', page.read_text(encoding="utf-8"))
    return [page.parent / name if (page.parent / name).is_file() else VIEW / name for name in names]


def main(tsc: str) -> int:
    pages = sorted([*VIEW.glob("*.html"), *EDIT.glob("*.html")])
    read = {script for page in pages for script in scripts(page)}
    left_out = sorted({*VIEW.glob("*.js"), *EDIT.glob("*.js")} - read)
    for script in left_out:
        print(f"{script.relative_to(ROOT)}: no page loads it")
    failed = bool(left_out)
    for page in pages:
        words = [tsc, *OPTIONS, str(Path(__file__).with_name("pages.d.ts")), *map(str, scripts(page))]
        failed |= subprocess.run(words, cwd=ROOT, check=False).returncode != 0
    print(f"{len(read)} scripts of {len(pages)} pages: {'at fault' if failed else 'sound'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
