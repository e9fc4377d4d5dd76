"""Each format's files, read back by what its users read them with."""
