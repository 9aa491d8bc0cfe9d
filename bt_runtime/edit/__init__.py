"""Edits of a tree's text: a gesture of a person changes what it means, and leaves the rest as it was written."""
