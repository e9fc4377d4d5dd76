"""State, clock, contact and signals, without a server."""
