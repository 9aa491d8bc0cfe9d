"""What every import writes: a project with its report, in YAML for people."""
