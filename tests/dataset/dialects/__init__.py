"""Each dialect by its name."""
