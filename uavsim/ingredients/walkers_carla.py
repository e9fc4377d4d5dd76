"""Walkers under CARLA's controllers. Imports ``carla``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import carla

from uavsim.ingredients.walkers import WalkersPlan
from uavsim.simulate.carla.spawning import SpawnContext, Spawned

_DRAWS: Final = 500  # a large map has 330 km of roads


def spawn(context: SpawnContext, record: WalkersPlan) -> Spawned:
    """Spawn a scene's walkers and their controllers, let a tick pass, and let them walk."""
    client, world, rng = context.client, context.world, context.rng(1)
    world.set_pedestrians_seed(context.plan.traffic_seed % 2**31)
    library = world.get_blueprint_library()
    kinds = sorted(library.filter("walker.pedestrian.*"), key=lambda b: str(b.id))
    commands = []
    for _ in range(record.walkers):
        place = _place(context)
        blueprint = kinds[int(rng.integers(0, len(kinds)))]
        if place is not None:
            commands.append(carla.command.SpawnActor(blueprint, carla.Transform(place)))
    walkers = _spawned(client, commands)
    of_controllers = library.find("controller.ai.walker")
    controllers = _spawned(client, [carla.command.SpawnActor(of_controllers, carla.Transform(), w) for w in walkers])
    context.pass_a_tick()
    for controller in cast("carla.ActorList[carla.WalkerAIController]", world.get_actors(controllers)):
        controller.start()
        controller.go_to_location(world.get_random_location_from_navigation())
        controller.set_max_speed(float(rng.uniform(0.8, 1.8)))
    counts = {"walkers": (record.walkers, len(walkers))}
    return _Walkers("walker", walkers, controllers, counts=counts, world=world)


def _place(context: SpawnContext) -> carla.Location | None:
    """Return a place to walk, of a large map one near the swarm; None when none is found."""
    for _ in range(_DRAWS):
        place: carla.Location | None = context.world.get_random_location_from_navigation()
        if place is None or context.is_near(place):
            return place
    return None


def _spawned(client: carla.Client, commands: Sequence[carla.command.SpawnActor]) -> list[int]:
    return [int(reply.actor_id) for reply in client.apply_batch_sync(commands, False) if not reply.error]


@dataclass(slots=True, eq=False, kw_only=True)
class _Walkers(Spawned):
    world: carla.World

    def clear(self) -> None:
        """See ``Spawned``; their controllers have to stop before they go."""
        for controller in self.world.get_actors(list(self.helpers)) if self.helpers else ():
            cast("carla.WalkerAIController", controller).stop()
