"""Traffic: blueprints, the draws of vehicles, and a town's parked vehicles as standing actors."""

from types import SimpleNamespace
from typing import Any

import carla
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.config.dataset import TownShare
from uavsim.errors import SimulatorError
from uavsim.ingredients.carla.traffic import parked_vehicles
from uavsim.ingredients.traffic import (
    RENAMED,
    BlueprintFacts,
    Blueprints,
    Traffic,
    TrafficPlan,
    blueprints,
    choose_blueprints,
    order_vehicles,
    plan_vehicles,
    thin_out,
)
from uavsim.records.classes import UAV3D_CARS
from uavsim.simulate.carla.read import joined, with_parked

CATALOGUE = [
    BlueprintFacts("vehicle.audi.tt", 4, "car", {"color": ("1,2,3", "4,5,6")}),
    BlueprintFacts("vehicle.yamaha.yzf", 2, "motorcycle", {}),
    BlueprintFacts("vehicle.audi.a2", 4, "car", {"color": ("7,8,9",), "driver_id": ("0", "1")}),
]


def test_uav3ds_seventeen_cars_by_todays_names():
    cars = blueprints(("uav3d",))
    assert len(UAV3D_CARS) == len(set(UAV3D_CARS)) == len(cars) == 17
    assert not set(cars) & set(RENAMED)
    assert {"vehicle.lincoln.mkz_2017", "vehicle.ford.mustang", "vehicle.audi.a2"} <= set(cars)


def test_groups_lists_and_old_names():
    assert blueprints(("all",)) == ()
    assert blueprints(("uav3d", "all")) == ()
    assert blueprints(("vehicle.mustang.mustang", "vehicle.ford.mustang", "vehicle.x.y")) == (
        "vehicle.ford.mustang",
        "vehicle.x.y",
    )


def test_the_towns_number_goes_before_the_datasets():
    block = Traffic(vehicles=60, walkers=3, blueprints=Blueprints(ids=("uav3d",)))
    for town_vehicles, vehicles in ((None, 60), (0, 0), (9, 9)):
        town: Any = SimpleNamespace(block=block, share=TownShare(scenes=1, vehicles=town_vehicles))
        assert plan_vehicles(town) == TrafficPlan(vehicles, blueprints(("uav3d",)))


def test_without_a_list_every_four_wheeler_may_drive() -> None:
    assert [f.blueprint for f in choose_blueprints([], CATALOGUE)] == ["vehicle.audi.a2", "vehicle.audi.tt"]


def test_unknown_blueprint_names_the_nearest() -> None:
    with pytest.raises(SimulatorError, match=r"vehicle\.audi\.tt"):
        choose_blueprints(["vehicle.audi.ttt"], CATALOGUE)


def test_same_seed_same_order_and_no_place_twice() -> None:
    first = order_vehicles(count=30, choices=CATALOGUE, places=40, rng=np.random.default_rng(3))
    again = order_vehicles(count=30, choices=CATALOGUE, places=40, rng=np.random.default_rng(3))
    other = order_vehicles(count=30, choices=CATALOGUE, places=40, rng=np.random.default_rng(4))
    assert first == again
    assert first != other
    assert len({order.spawn_index for order in first}) == 30


def test_no_more_vehicles_than_places() -> None:
    assert len(order_vehicles(count=30, choices=CATALOGUE, places=12, rng=np.random.default_rng(0))) == 12


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), max_size=30), st.floats(1, 20))
def test_thinned_places_keep_their_distance(points: list[tuple[float, float]], gap_m: float) -> None:
    places = np.array([(x, y, 0.0) for x, y in points]).reshape(-1, 3)
    taken = np.array([[0.0, 0.0, 0.0]])
    selected = places[thin_out(places, taken_m=taken, gap_m=gap_m)]
    vehicles = np.vstack([taken, selected])
    apart = np.linalg.norm(vehicles[:, None] - vehicles[None], axis=2) + 1e9 * np.eye(len(vehicles))
    assert apart.min() >= gap_m - 1e-9


def test_parked_vehicles_stand_on_the_middle_of_their_boxs_bottom() -> None:
    """A box centred at ue (10, 20, 1) lies on its right side: its bottom points to ue's left, map +y."""
    box = carla.BoundingBox(carla.Location(10.0, 20.0, 1.0), carla.Vector3D(2.0, 1.0, 0.5))
    box.rotation = carla.Rotation(roll=90.0)
    parked_object = SimpleNamespace(name="Parked_1", id=5, type=14, bounding_box=box)
    parked = parked_vehicles([parked_object], first_instance_id=8)
    states = parked.states
    centre = (states.map_SE3_actor @ parked.infos[0].actor_SE3_box).translation_m
    np.testing.assert_allclose(centre, [[10, -20, 1]], atol=1e-12)
    np.testing.assert_allclose(states.map_SE3_actor.translation_m, [[10, -19.5, 1]], atol=1e-7)
    both = with_parked(states, parked)
    assert both.map_SE3_actor.shape == (2,)
    assert both.instance_id.tolist() == [8, 8]
    assert joined(parked, parked).states.instance_id.tolist() == [8, 8]
