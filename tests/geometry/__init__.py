"""Mathematical laws, and poses calculated by hand."""
