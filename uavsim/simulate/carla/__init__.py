"""CARLA through its own client: one of two rooms that import ``carla``; nothing here runs outside a client process."""
