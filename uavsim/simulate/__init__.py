"""Live simulator sessions: ports, adapters for the vendors' clients, lockstep."""
