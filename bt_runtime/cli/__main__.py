import sys

from bt_runtime.language.project import child

if not sys.flags.safe_path:  # `python -m` put the working directory first
    sys.path[:] = child.search_path()

from bt_runtime.cli import main

raise SystemExit(main())
