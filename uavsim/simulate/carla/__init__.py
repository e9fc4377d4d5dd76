"""CARLA through its own client, only in a client process; one of two packages that import ``carla``."""
