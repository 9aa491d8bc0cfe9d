"""Names of modules that a hostile folder would have."""

from __future__ import annotations

SHADOWS = (
    "contextlib", "queue", "numpy", "json", "yaml", "typing", "struct", "socket", "sitecustomize", "usercustomize",
    "py_trees", "faiss", "llama_cpp", "jinja2", "multiprocessing", "bt_runtime",
)  # fmt: skip
