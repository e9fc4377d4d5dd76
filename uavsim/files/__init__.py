"""Names that a dataset may give to files, and every deletion and overwrite: the only room that removes or replaces files."""
