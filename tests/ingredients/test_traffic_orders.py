import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.errors import SimulatorError
from uavsim.ingredients.traffic_orders import BlueprintFacts, choose_blueprints, order_vehicles, thin_out

CATALOGUE = [
    BlueprintFacts("vehicle.audi.tt", 4, "car", {"color": ("1,2,3", "4,5,6")}),
    BlueprintFacts("vehicle.yamaha.yzf", 2, "motorcycle", {}),
    BlueprintFacts("vehicle.audi.a2", 4, "car", {"color": ("7,8,9",), "driver_id": ("0", "1")}),
]


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
    assert len({order.place for order in first}) == 30


def test_no_more_vehicles_than_places() -> None:
    assert len(order_vehicles(count=30, choices=CATALOGUE, places=12, rng=np.random.default_rng(0))) == 12


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), max_size=30), st.floats(1, 20))
def test_thinned_places_keep_their_distance(points: list[tuple[float, float]], gap_m: float) -> None:
    places = np.array([(x, y, 0.0) for x, y in points]).reshape(-1, 3)
    taken = np.array([[0.0, 0.0, 0.0]])
    kept = places[thin_out(places, taken_m=taken, gap_m=gap_m)]
    everyone = np.vstack([taken, kept])
    apart = np.linalg.norm(everyone[:, None] - everyone[None], axis=2) + 1e9 * np.eye(len(everyone))
    assert apart.min() >= gap_m - 1e-9
