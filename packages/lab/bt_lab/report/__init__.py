"""Reports of outcomes: figures with intervals, comparisons, claims, pages."""
