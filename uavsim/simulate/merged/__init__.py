"""A build with CARLA and AirSim in one Unreal process: images of a held world, proven by evidence."""
