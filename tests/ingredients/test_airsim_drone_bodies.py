"""AirSim's own bodies stand behind all other actors, where the drones are."""

import numpy as np

from uavsim.geometry.se3 import SE3
from uavsim.ingredients.drone_bodies import AIRSIM_BODY, DroneBodiesPlan
from uavsim.ingredients.drone_bodies_carla import AirSimDroneBodies
from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.recording import DroneState
from uavsim.simulate.carla.read import Parked, joined


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
