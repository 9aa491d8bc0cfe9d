"""Takes pictures of the editor to look at: `python -m packages.author.tests.edit.screenshots FOLDER`.

20, 200 and 2,000 nodes, light and dark, on a screen, at 150 %, on a phone."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bt_author.cli.lsp import files, sort
from bt_author.edit.serving import Editor
from tests.run.view.browser import Browser

SIZES = {"screen": (1280, 800), "150": (853, 533), "phone": (390, 844)}
HEAD = "version: 1\ntree: n{0}\nblackboard: {{low: {{type: boolean, default: false}}}}\nroot:\n  reactive_fallback:\n"
BRANCH = """\
    - sequence:
        name: shelf_{0}
        when: not low
        children:
          - check: low == false
          - retry:
              times: 3
              child:
                timeout: {{seconds: 20, child: {{log: "drive to shelf {0}"}}}}
          - set: {{low: false}}
          - log: {{text: "nothing on shelf {0}", level: warning}}
          - wait: 0.5
"""


def tree(nodes: int) -> str:
    return HEAD.format(nodes) + "".join(BRANCH.format(n) for n in range(max(1, nodes // 9)))


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        project = Path(made)
        (project / "trees").mkdir()
        (project / "btr.yaml").write_text("version: 1\n")
        for nodes in (20, 200, 2000):
            (project / "trees" / f"n{nodes}.yaml").write_text(tree(nodes))
        with Editor(project, files, sort) as editor:
            for dark in (False, True):
                for name, size in SIZES.items():
                    with Browser(*size, dark=dark) as browser:
                        for nodes in (20, 200, 2000):
                            browser.open(editor.url(project / "trees" / f"n{nodes}.yaml"))
                            browser.until(
                                f"window.app && app.state?.path.includes('n{nodes}.') && app.view.places.size"
                            )
                            browser.js("app.pickPath([0, 1]); window.later_ = 0; setTimeout(() => (later_ = 1), 400)")
                            browser.until("later_")
                            browser.screenshot(folder / f"{name}_{nodes}{'_dark' if dark else ''}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
