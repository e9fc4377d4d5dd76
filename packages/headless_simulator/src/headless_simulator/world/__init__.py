"""State, clock and physics that the CARLA server and the AirSim server share."""
