"""The worlds of the papers, and the field: code beside its content."""
