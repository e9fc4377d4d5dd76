"""Drive the ego vehicle of scenario_runner with CARLA's own BasicAgent: ``python scenario_driver.py PORT``.

It imports ``agents`` of CARLA's PythonAPI and nothing of this project, so it runs in the environment of scenario_runner.
It goes on until it is ended: worlds are loaded and ego vehicles come and go meanwhile.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import carla
from agents.navigation.basic_agent import BasicAgent

_SPEED_KMH = 30
_TICK_TIMEOUT_S = 30.0
_LOOK_EVERY = 10  # ticks between two looks for the ego vehicle: each asks the simulator for all actors
_BETWEEN_SCENARIOS = (RuntimeError, IndexError, AttributeError)  # what CARLA's client and agents raise for what is gone


def hero_of(world: carla.World) -> carla.Actor | None:
    """Find the ego vehicle."""
    vehicles = world.get_actors().filter("vehicle.*")
    return next((vehicle for vehicle in vehicles if vehicle.attributes.get("role_name") == "hero"), None)


def agent_of(hero: carla.Actor, world: carla.World) -> Any:
    """Make a driver on its way to some place of the town."""
    agent = BasicAgent(hero, _SPEED_KMH)
    agent.set_destination(random.choice(world.get_map().get_spawn_points()).location)
    return agent


def main() -> None:
    """Drive whoever is the hero, tick by tick."""
    client = carla.Client("127.0.0.1", int(sys.argv[1]))
    client.set_timeout(_TICK_TIMEOUT_S)
    random.seed(0)
    agent, hero, world_id, ticks = None, None, -1, 0
    while True:
        try:
            world = client.get_world()
            world.wait_for_tick(_TICK_TIMEOUT_S)
            ticks += 1
            if hero is None or world.id != world_id or ticks % _LOOK_EVERY == 0:
                found = hero_of(world)
                if found is None or hero is None or (found.id, world.id) != (hero.id, world_id):
                    agent = None
                hero, world_id = found, world.id
            if hero is None:
                continue
            if agent is None or agent.done():
                agent = agent_of(hero, world)
            hero.apply_control(agent.run_step())
        except _BETWEEN_SCENARIOS as error:
            agent = hero = None
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
