"""The version, for whoever is below the package's face."""

from __future__ import annotations

__version__ = "0.1.0"
