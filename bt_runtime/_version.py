"""The package's version, for modules that may not import the package itself."""

from __future__ import annotations

__version__ = "1.0.0"
