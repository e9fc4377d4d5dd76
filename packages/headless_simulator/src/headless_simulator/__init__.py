"""Headless CARLA and AirSim servers with the real wire protocols, without GPU and Unreal Engine."""
