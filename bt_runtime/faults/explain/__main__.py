"""`python -m bt_runtime.faults.explain > docs/faults.md`"""

from __future__ import annotations

import sys

from bt_runtime.faults.explain import handbook

sys.stdout.write(handbook())
