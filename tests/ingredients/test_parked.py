"""Parked vehicles of a town as standing actors."""

from types import SimpleNamespace

import carla
import numpy as np

from uavsim.ingredients.parked_carla import parked_vehicles
from uavsim.simulate.carla.read import joined, with_parked


def test_parked_vehicles_stand_on_the_middle_of_their_boxs_bottom() -> None:
    """A box centred at ue (10, 20, 1), lying on its right side: what was down points to ue's left, map's +y."""
    box = carla.BoundingBox(carla.Location(10.0, 20.0, 1.0), carla.Vector3D(2.0, 1.0, 0.5))
    box.rotation = carla.Rotation(roll=90.0)
    thing = SimpleNamespace(name="Parked_1", id=5, type=14, bounding_box=box)
    parked = parked_vehicles([thing], first_instance_id=8)
    states = parked.states
    centre = (states.map_SE3_actor @ parked.infos[0].actor_SE3_box).translation_m
    np.testing.assert_allclose(centre, [[10, -20, 1]], atol=1e-12)
    np.testing.assert_allclose(states.map_SE3_actor.translation_m, [[10, -19.5, 1]], atol=1e-7)
    both = with_parked(states, parked)
    assert both.map_SE3_actor.shape == (2,)
    assert both.instance_id.tolist() == [8, 8]
    assert joined(parked, parked).states.instance_id.tolist() == [8, 8]
