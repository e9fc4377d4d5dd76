"""A build with CARLA and AirSim in one Unreal process: images of a paused world, verified by several proofs."""
