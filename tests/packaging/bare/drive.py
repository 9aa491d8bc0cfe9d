"""Runs commands of `btr`, each in a fork of one process, and prints what each said as JSON: words, exit code, text.

`python drive.py COMMANDS.json`; started with this folder first in PYTHONPATH it has no extra at all."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from pathlib import Path

import bt_runtime.cli.running.run
import bt_runtime.language.loader
import bt_runtime.run.run  # noqa: F401  # what most commands import, once for all forks
from bt_runtime import cli

LONGEST = 120  # seconds: a command that serves would never end


def one(words: list[str]) -> tuple[int, str]:
    with tempfile.TemporaryFile() as out:
        pid = os.fork()
        if not pid:
            signal.alarm(LONGEST)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            code: object = 3
            try:
                code = cli.main(words)
            except SystemExit as end:
                code = end.code
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code if isinstance(code, int) else 0)
        _, status = os.waitpid(pid, 0)
        out.seek(0)
        return os.waitstatus_to_exitcode(status), out.read().decode("utf-8", "replace")


if __name__ == "__main__":
    for words in json.loads(Path(sys.argv[1]).read_text()):
        print(json.dumps([words, *one(words)]), flush=True)
