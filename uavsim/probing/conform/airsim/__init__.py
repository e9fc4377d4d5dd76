"""Questions to an AirSim server, by AirSim's own client."""
