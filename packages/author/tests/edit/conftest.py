"""A browser for the page's tests; without one they are skipped, with the reason."""

from tests.run.view.conftest import browser, one_browser

__all__ = ["browser", "one_browser"]
