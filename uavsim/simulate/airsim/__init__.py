"""AirSim and its forks through their own clients: flight, images, settings."""
