"""AI2-THOR: ALFRED's tasks in the real library, driven by sentences; symbolic rooms where there is no Unity."""
