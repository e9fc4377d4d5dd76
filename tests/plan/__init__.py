"""Plans: shapes, paths, checks, numbering."""
