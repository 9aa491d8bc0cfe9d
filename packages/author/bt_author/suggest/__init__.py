"""Suggestions for manifests: what a skill could need and bring, read out of its words and of recorded runs."""
