"""A behaviour tree as a managed node."""
