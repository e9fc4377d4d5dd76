"""The smallest test against a CARLA server: python tick_a_world.py PORT. One tick is one frame."""

import os
import sys

import carla

client = carla.Client("127.0.0.1", int(sys.argv[1]))
client.set_timeout(120)
world = client.get_world()
settings = world.get_settings()
settings.synchronous_mode, settings.fixed_delta_seconds = True, 0.05
world.apply_settings(settings)
before = world.get_snapshot().frame
world.tick()
assert world.get_snapshot().frame == before + 1
print(world.get_map().name, flush=True)  # noqa: T201
os._exit(0)
