"""Questions to a CARLA server, by CARLA's own client."""
