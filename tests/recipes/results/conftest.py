"""The third party's world that evaluations are tried on."""

from tests.bench.conftest import doors

__all__ = ["doors"]
