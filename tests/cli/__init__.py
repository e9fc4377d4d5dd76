"""Commands: exit codes, one-line errors, written files."""
