"""The third party's world that evaluations are tried on."""

from packages.lab.tests.bench.conftest import doors

__all__ = ["doors"]
