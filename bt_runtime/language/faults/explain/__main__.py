"""`python -m bt_runtime.language.faults.explain > docs/faults.md`"""

from __future__ import annotations

import sys

from bt_runtime.language.faults.explain import handbook

sys.stdout.write(handbook())
