"""AI2-THOR: ALFRED's tasks in the real library, driven by sentences, or in symbolic rooms without Unity."""
