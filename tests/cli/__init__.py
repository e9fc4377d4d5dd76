"""Commands as people type them: exit codes, one-line errors, what is written."""
