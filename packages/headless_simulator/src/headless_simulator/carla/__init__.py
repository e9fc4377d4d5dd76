"""A headless server that speaks CARLA 0.9.16's RPC and streaming protocols."""
