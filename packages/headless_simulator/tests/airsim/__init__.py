"""AirSim's protocol, flight and images, against its own client and figures worked out on paper."""
