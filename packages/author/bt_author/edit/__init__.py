"""Edits a tree's text: a person's gesture changes the parts that it names, and leaves the rest as written."""
