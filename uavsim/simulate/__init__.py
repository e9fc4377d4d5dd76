"""Scene plan -> a live session: ports, one adapter per vendor's client, lockstep; the only room with carla and airsim."""
