"""The parts of ingredients that need CARLA's client: they spawn, move and read actors."""
