"""Appearance of actors: meshes by asset path, and open doors."""

import numpy as np
import pytest
from headless_simulator.models.library import ModelLibrary
from headless_simulator.scene import TAIL_LIGHT
from headless_simulator.world.actors import SpawnOrder
from headless_simulator.world.body import model_name

from tests.world.paper_town import world

LIBRARY = ModelLibrary()
WITH_DOORS, WITHOUT = "vehicle.dodge.charger_2020", "vehicle.audi.tt"
ALL, FRONT_LEFT, BOOT = 6, 0, 5


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/Game/Uavsim/open_manhole.open_manhole", "mesh.open_manhole"),
        ("/Game/tyre", "mesh.tyre"),
        ("/Game/Mine/aeroplane.aeroplane", "static.prop.aeroplane"),
        ("/Game/Uavsim/piano.piano", None),
        ("", None),
    ],
)
def test_prop_mesh_is_chosen_by_its_path(path, model):
    assert model_name("static.prop.mesh", path) == model
    w = world()
    actor = w.spawn(SpawnOrder("static.prop.mesh", attributes={"mesh_path": path}))
    assert (w.table.c.model[actor.row] >= 0) == (model is not None)
    if model is not None:
        assert actor.half_m == LIBRARY.half_extent(model)
        stands = model.startswith("mesh.")  # on its origin; what flies has it in its middle
        assert actor.offset_m[2] == (actor.half_m[2] if stands else 0.0)


def test_door_opens_on_its_side_and_closes():
    w = world()
    car = w.spawn(SpawnOrder(WITH_DOORS))
    closed = int(w.table.c.model[car.row])

    assert w.set_door(car.actor_id, FRONT_LEFT, opened=True)
    vertices_m = LIBRARY.mesh(int(w.table.c.model[car.row])).vertices_m
    assert vertices_m[:, 1].min() < -car.half_m[1] - 0.6  # left is minus y
    assert vertices_m[:, 1].max() == pytest.approx(car.half_m[1], abs=1e-6)

    assert w.set_door(car.actor_id, FRONT_LEFT, opened=False)
    assert w.table.c.model[car.row] == closed


def test_all_doors_open_on_both_sides_and_the_box_stays():
    w = world()
    car = w.spawn(SpawnOrder(WITH_DOORS))
    half_m = car.half_m
    w.set_door(car.actor_id, ALL, opened=True)
    vertices_m = LIBRARY.mesh(int(w.table.c.model[car.row])).vertices_m
    np.testing.assert_allclose(vertices_m[:, 1].min(), -vertices_m[:, 1].max(), atol=1e-6)
    assert car.half_m == half_m


def test_missing_door_changes_nothing():
    w = world()
    for blueprint, door in ((WITHOUT, ALL), (WITH_DOORS, BOOT), ("static.prop.barrel", ALL)):
        actor = w.spawn(SpawnOrder(blueprint, pose=(0.0, 20.0 * door, 0.0, 0.0, 0.0, 0.0)))
        before = int(w.table.c.model[actor.row])
        assert not w.set_door(actor.actor_id, door, opened=True)
        assert w.table.c.model[actor.row] == before
        w.destroy(actor.actor_id)


@pytest.mark.parametrize("blueprint", [WITH_DOORS, WITHOUT, "vehicle.carlamotors.firetruck"])
def test_hazard_lights_are_seen_from_above_and_from_the_side(blueprint):
    """Lamps at the ends alone are slivers from a drone: hazard lights are four lamps at the corners, inside of the box."""
    w = world()
    car = w.spawn(SpawnOrder(blueprint))
    plain = int(w.table.c.model[car.row])
    w.set_lights(car.actor_id, 16)
    assert w.table.c.model[car.row] == plain  # one blinker

    w.set_lights(car.actor_id, 16 | 32)
    mesh, before = LIBRARY.mesh(int(w.table.c.model[car.row])), LIBRARY.mesh(plain)
    assert (mesh.vertices_m.min(axis=0) == before.vertices_m.min(axis=0)).all()
    assert (mesh.vertices_m.max(axis=0) == before.vertices_m.max(axis=0)).all()
    lamps = mesh.triangles[len(before.triangles) :]
    assert (mesh.material[len(before.triangles) :] == TAIL_LIGHT).all()
    a, b, c = (mesh.vertices_m[lamps[:, n]].astype(np.float64) for n in range(3))
    facing_m2 = np.cross(b - a, c - a) / 2
    assert np.maximum(facing_m2[:, 2], 0.0).sum() > 0.1  # m2 that face up, of all four
    assert np.maximum(facing_m2[:, 1], 0.0).sum() > 0.1  # to the right
    assert np.maximum(facing_m2[:, 0], 0.0).sum() > 0.05  # ahead

    w.set_lights(car.actor_id, 0)
    assert w.table.c.model[car.row] == plain


def test_hazard_lights_and_open_doors_go_together():
    w = world()
    car = w.spawn(SpawnOrder(WITH_DOORS))
    w.set_lights(car.actor_id, 48)
    w.set_door(car.actor_id, ALL, opened=True)
    both = LIBRARY.mesh(int(w.table.c.model[car.row]))
    w.set_lights(car.actor_id, 0)
    doors = LIBRARY.mesh(int(w.table.c.model[car.row]))
    assert len(both.triangles) > len(doors.triangles)
    assert both.vertices_m[:, 1].max() == doors.vertices_m[:, 1].max() > car.half_m[1] + 0.6
