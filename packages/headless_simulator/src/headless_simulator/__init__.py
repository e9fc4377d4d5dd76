"""A headless CARLA and AirSim: their real wire protocols, served to their real clients with no GPU and no Unreal Engine."""
