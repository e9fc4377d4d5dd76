"""Files of each export format, read with its users' readers."""
