"""Masks have 16 bits, and the headless simulator's report actors by 15 of them: larger ids are not flown with."""

import json
import subprocess
import sys

from headless_simulator.testing import running_simulator

CLIENT = """
import json, os, sys
from tools.common.plans import rig, scene_plan
from uavsim.errors import SimulatorLost
from uavsim.simulate.carla import read as carla_read
from uavsim.simulate.carla.world import CarlaWorld

plan = scene_plan(samples=1, vehicles=12, cameras=rig()[:1])
quiet = lambda phase, tick: None
world = CarlaWorld("127.0.0.1", int(sys.argv[1]))


def populated():
    world.prepare(plan, heartbeat=quiet)
    return max(info.simulator_actor_id for info in world.populate(plan, heartbeat=quiet).actors)


first, said = populated(), ""
carla_read.LAST_ID_IN_MASKS = first + 5
try:
    populated()
except SimulatorLost as error:
    said = str(error)
print(json.dumps([first, said, populated()]), flush=True)
os._exit(0)
"""
"""A process of its own: libcarla's threads may abort the one in which they are."""


def test_ids_that_masks_cannot_say_begin_anew_with_the_map() -> None:
    with running_simulator("--town", "Town10HD") as simulator:
        port = simulator.carla.rpartition(":")[2]
        done = subprocess.run([sys.executable, "-c", CLIENT, port], check=True, stdout=subprocess.PIPE, text=True)
    first, said, again = json.loads(done.stdout.splitlines()[-1])
    assert f"ids up to {first + 12}, its masks report {first + 5}" in said
    assert again <= first + 5
