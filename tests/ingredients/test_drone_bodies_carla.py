"""Bodies have the drones' poses and velocities; AirSim's bodies have ids after all other actors."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from uavsim.errors import MissedTick, SimulatorError
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.carla.drone_bodies import AirSimDroneBodies, CarlaDroneBodies
from uavsim.ingredients.drone_bodies import AIRSIM_BODY, DroneBodiesPlan
from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.recording import DroneState
from uavsim.simulate.carla.read import Parked, joined

LEVEL = np.array([1.0, 0.0, 0.0, 0.0])


def info(instance_id: int, half_m: tuple[float, float, float] = (0.6, 0.6, 0.25)) -> ActorInfo:
    box = SE3(LEVEL, np.array([0.0, 0.0, 0.1]))  # a mesh with its centre 0.1 m above the actor's origin
    return ActorInfo(instance_id, 100 + instance_id, "drone", "static.prop.drone", "", half_m, box, 21)


class Client:
    """A client that records its commands."""

    def __init__(self, error: str = "") -> None:
        self.error, self.placed = error, list[Any]()

    def apply_batch_sync(self, commands: list[Any], do_tick: bool) -> list[Any]:
        self.placed = [command.transform.location for command in commands]
        return [SimpleNamespace(error=self.error) for _ in commands]


def bodies(client: Any, *, half_m: tuple[float, float, float] = (0.6, 0.6, 0.25)) -> CarlaDroneBodies:
    record = DroneBodiesPlan("static.prop.drone", (1.2, 1.2, 0.5), 0.3)
    made = CarlaDroneBodies("drone", [104, 105], client=client, record=record)
    made.set_actor_infos({104: info(4, half_m), 105: info(5, half_m)})
    return made


def drones() -> list[DroneState]:
    places = (np.array([10.0, 20.0, 30.0]), np.array([-5.0, 0.0, 40.0]))
    return [DroneState(n, SE3(LEVEL, m), np.array([1.0 + n, 2.0, 0.0]), SE3(LEVEL, m)) for n, m in enumerate(places)]


def states(ids: list[int], origins_map_m: list[list[float]]) -> ActorStates:
    n = len(ids)
    zeros = np.zeros((n, 3))
    poses = SE3(np.tile(LEVEL, (n, 1)), np.array(origins_map_m))
    return ActorStates(np.array(ids), poses, zeros, zeros, zeros, zeros)


CAR, FIRST, SECOND = [0.0, 0.0, 0.0], [10.0, 20.0, 30.2], [-5.0, 0.0, 40.2]  # 0.3 m above less the mesh's 0.1


def test_a_box_is_above_its_drone_and_has_its_velocity() -> None:
    client = Client()
    flown = bodies(client)
    flown.on_drone_poses(drones())
    found = np.array([[xyz.x, xyz.y, xyz.z] for xyz in client.placed])
    np.testing.assert_allclose(found, [[10, -20, 30.2], [-5, 0, 40.2]], atol=1e-5)  # the simulator's y is flipped
    actor_states = flown.proven(states([1, 4, 5], [CAR, FIRST, SECOND]), None)  # type: ignore[arg-type]
    assert actor_states.velocity_map_mps.tolist() == [[0, 0, 0], [1, 2, 0], [2, 2, 0]]


def test_a_body_elsewhere_or_gone_is_a_missed_tick() -> None:
    flown = bodies(Client())
    flown.on_drone_poses(drones())
    with pytest.raises(MissedTick, match=r"the body of drone 1 is 0\.500 m from its commanded position"):
        flown.proven(states([4, 5], [FIRST, [-5.0, 0.5, 40.2]]), None)  # type: ignore[arg-type]
    with pytest.raises(MissedTick, match="a drone body is missing"):
        flown.proven(states([1, 4], [CAR, FIRST]), None)  # type: ignore[arg-type]
    with pytest.raises(MissedTick, match="2 drone bodies could not be moved: no such actor"):
        bodies(Client(error="no such actor")).on_drone_poses(drones())


def test_a_body_larger_than_the_dataset_says_is_refused() -> None:
    with pytest.raises(SimulatorError, match=r"measures 2\.00 x 1\.20 x 0\.50 m, but size_m is 1\.20 x 1\.20 x 0\.50"):
        bodies(Client(), half_m=(1.0, 0.6, 0.25))
    with pytest.raises(SimulatorError, match="set size_m to"):
        bodies(Client(), half_m=(0.0, 0.0, 0.0))


def poses(*places_m: tuple[float, float, float]) -> SE3:
    return SE3(np.tile([1.0, 0.0, 0.0, 0.0], (len(places_m), 1)), np.array(places_m))


def car(instance_id: int, actor_id: int) -> ActorInfo:
    return ActorInfo(instance_id, actor_id, "parked", "vehicle.a.b", "car", (2.0, 1.0, 0.8), poses((0, 0, 0))[0], 14)


def test_bodies_follow_the_drones_behind_everything_else_with_masks_of_their_own() -> None:
    record = DroneBodiesPlan(AIRSIM_BODY, (0.6, 0.4, 0.2), 0.1)
    start = poses((0, 0, 50), (0, 9, 50))
    bodies = AirSimDroneBodies("drone", record=record, start=start)
    bodies.set_actor_infos({70_000: car(1, 70_000), 0xFFFF: car(2, 0xFFFF)})
    none = np.zeros((1, 3))
    parked = Parked((car(3, 0),), ActorStates(np.array([3]), poses((7, 7, 0)), none, none, none, none))
    scenery = joined(parked, bodies.scenery(4))
    assert [info.instance_id for info in scenery.infos] == [3, 4, 5]
    assert [info.simulator_actor_id for info in scenery.infos[1:]] == [0xFFFE, 0xFFFD]  # 65535 is a car's
    assert {(info.kind, info.blueprint, info.half_extent_m) for info in scenery.infos[1:]} == {
        ("drone", AIRSIM_BODY, (0.3, 0.2, 0.1))
    }
    assert scenery.infos[1].actor_SE3_box.translation_m.tolist() == [0.0, 0.0, 0.1]
    assert bodies.moved(scenery) is scenery  # they do not fly yet
    turned = SE3(np.array([0.0, 0.0, 0.0, 1.0]), np.array([3.0, 2.0, 40.0]))
    level = poses((1, 9, 51))[0]
    bodies.on_drone_poses(
        [DroneState(0, turned, np.array([1.0, 0, 0]), turned), DroneState(1, level, np.array([0, 2.0, 0]), level)]
    )
    states = bodies.moved(scenery).states
    assert states.map_SE3_actor.translation_m.tolist() == [[7, 7, 0], [3, 2, 40], [1, 9, 51]]
    assert states.velocity_map_mps.tolist() == [[0, 0, 0], [1, 0, 0], [0, 2, 0]]
    assert abs(states.ue_euler_deg[1, 2]) == 180.0
    assert scenery.states.map_SE3_actor.translation_m[1].tolist() == [0, 0, 50]  # nothing is changed in place
