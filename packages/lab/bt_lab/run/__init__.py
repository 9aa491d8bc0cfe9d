"""Episodes: cases of tasks and strategies, how they are run on this machine, and their outcomes."""
