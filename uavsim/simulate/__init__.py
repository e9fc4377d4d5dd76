"""Scene plan -> a live session: ports, an adapter for each vendor's client, lockstep."""
