"""A headless server for CARLA's and AirSim's real clients; one room per protocol, one for what both share."""
