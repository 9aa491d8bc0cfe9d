"""`python -m bt_runtime.explain > docs/faults.md`"""

from __future__ import annotations

import sys

from bt_runtime.explain import handbook

sys.stdout.write(handbook())
