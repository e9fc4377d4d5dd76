"""Streaming of a hand-made large map: a plain of 6 km, tiles of 2 km, the origin at a corner of four of them."""

from dataclasses import replace

import numpy as np
import pytest
from headless_simulator.carla import snapshot, wire
from headless_simulator.models import ModelLibrary
from headless_simulator.world.actors import SpawnOrder
from headless_simulator.world.large_map import Distances, is_large
from headless_simulator.world.world import World

from tests.world.paper_town import NoRenderer, town

HEADERS = wire.SENSOR_HEADER.size + wire.EPISODE_HEADER.size
NEAR = Distances(tiles_m=500.0, actors_m=300.0, spectator_as_ego=True)


def plain() -> World:
    small = town()
    ground = replace(small.ground, origin_m=(-3000.0, -3000.0), cell_m=60.0)
    large = World(replace(small, ground=ground), models=ModelLibrary(), renderer_of=lambda _: NoRenderer())
    large.stream_large_maps(True)
    return large


def car(world: World, x: float, **attributes: str) -> int:
    pose = (x, 0.0, 0.5, 0.0, 0.0, 0.0)
    return world.spawn(SpawnOrder("vehicle.tesla.model3", pose=pose, attributes=attributes)).actor_id


def states(world: World) -> dict[int, int]:
    rows = np.frombuffer(snapshot.pack(world, flags=0, observer=17)[HEADERS:], wire.ACTOR_STATE)
    return dict(zip(rows["id"].tolist(), rows["state"].tolist(), strict=True))


def test_only_towns_wider_than_three_kilometres_have_tiles() -> None:
    small = town()

    assert not is_large(small)
    assert is_large(replace(small, ground=replace(small.ground, cell_m=60.0)))


def test_actors_far_from_the_spectator_are_dormant() -> None:
    world = plain()
    near, far = car(world, 100.0), car(world, 400.0)
    row = world.actor(far).row
    world.table.c.control[row] = world.table.c.control[world.actor(near).row] = (1.0, 0.0, 0.0)

    for _ in range(20):
        world.stream(NEAR)
        world.step(0.05)

    assert (states(world)[near], states(world)[far]) == (1, 2)
    assert world.movers().actor_id.tolist() == [near]
    assert world.table.c.pose[row, 0] == 400.0
    world.place_actor(world.spectator.actor_id, (400.0, 0.0, 60.0, 0.0, 0.0, 0.0))
    world.stream(NEAR)
    world.step(0.05)
    assert states(world)[far] == 1
    assert far in world.movers().actor_id.tolist()


def test_hero_vehicle_replaces_the_spectator_as_ego() -> None:
    world = plain()
    hero, other = car(world, 2900.0, role_name="hero"), car(world, 100.0)

    world.stream(NEAR)

    assert (states(world)[hero], states(world)[other]) == (1, 2)
    assert world.large_map is not None
    assert world.large_map.tiles == {(1, -1), (1, 0)}


def test_nothing_is_loaded_without_an_ego() -> None:
    world = plain()
    alone = car(world, 10.0)

    world.stream(NEAR._replace(spectator_as_ego=False))

    assert world.large_map is not None
    assert world.large_map.tiles == frozenset()
    assert states(world)[alone] == 2


def test_origin_moves_to_the_egos_tile() -> None:
    world = plain()
    world.place_actor(world.spectator.actor_id, (2500.0, -100.0, 60.0, 0.0, 0.0, 0.0))

    world.stream(NEAR)

    header = wire.EPISODE_HEADER.unpack_from(snapshot.pack(world, flags=0, observer=17), wire.SENSOR_HEADER.size)
    assert header[3:6] == (3000, -1000, 0)
    assert world.from_origin((2500.0, -100.0, 60.0, 1.0, 2.0, 3.0)) == pytest.approx((-500, 900, 60, 1, 2, 3))


def test_map_without_streaming_has_no_dormant_actors() -> None:
    world = plain()
    world.stream_large_maps(False)
    far = car(world, 2900.0)

    world.stream(NEAR)

    assert states(world)[far] == 1
    assert world.origin_m == (0, 0, 0)
