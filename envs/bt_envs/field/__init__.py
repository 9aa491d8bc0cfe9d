"""A field: a small floor with a robot on wheels, in two dimensions, with doubles of Nav2's servers."""
