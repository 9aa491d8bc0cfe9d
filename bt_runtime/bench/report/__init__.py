"""What outcomes say: figures with their intervals, comparisons, claims, pages."""
