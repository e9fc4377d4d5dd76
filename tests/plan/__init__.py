"""Plans: shapes, paths, checks, numbering, and the commands that show them."""
