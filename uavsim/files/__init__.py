"""Names that a data set may give to files, and every deletion and overwrite: the only room that removes or replaces files."""
