"""What CARLA's port does to whole messages at once, compiled."""
