"""Format 1 by hand: these maps are what it wrote, field by field."""

import msgpack
import numpy as np
import pytest

from tests.records.test_codec import assert_same, make_plan
from uavsim.errors import DatasetError
from uavsim.geometry.se3 import SE3
from uavsim.records import codec
from uavsim.records.format_1 import with_poses
from uavsim.records.recording import ActorInfo, DroneState

TURN, PLACE = [0.6, 0.0, 0.0, 0.8], [1.0, 2.0, 3.0]
POSE = SE3(np.array(TURN), np.array(PLACE))


def array(values):
    return codec.pack_value(np.array(values))


def test_a_plan():
    plan = make_plan()
    value = codec.pack_value(plan)
    pose = value["swarm"].pop("map_SE3_flu")
    value["swarm"] |= {"map_t_flu_m": pose["translation_m"], "map_q_flu_wxyz": pose["quat_wxyz"]}
    data = msgpack.packb({"format": "uavsim-plan-1", "plan": value})
    assert_same(codec.unpack_plan(data), plan)


def test_a_drone_has_two_poses():
    state = codec.unpack_value(
        {
            "~": "DroneState",
            "drone_id": 3,
            "map_t_flu_m": array(PLACE),
            "map_q_flu_wxyz": array(TURN),
            "velocity_map_mps": array([0.0, 0, 0]),
            "planned_map_t_flu_m": array([7.0, 8, 9]),
            "planned_map_q_flu_wxyz": array([1.0, 0, 0, 0]),
        }
    )
    planned = SE3(np.array([1.0, 0, 0, 0]), np.array([7.0, 8, 9]))
    assert_same(state, DroneState(3, POSE, np.zeros(3), planned))


def test_an_actor_told_its_box_as_tuples():
    fields = {
        "~": "ActorInfo",
        "instance_id": 1,
        "simulator_actor_id": 50,
        "kind": "vehicle",
        "blueprint": "vehicle.audi.tt",
        "base_type": "car",
        "half_extent_m": [2.1, 1.0, 0.7],
        "actor_t_box_m": PLACE,
        "actor_q_box_wxyz": TURN,
        "semantic_tag": 14,
        "attributes": {},
    }
    info = codec.unpack_value(fields)
    assert_same(info, ActorInfo(1, 50, "vehicle", "vehicle.audi.tt", "car", (2.1, 1.0, 0.7), POSE, 14))
    with pytest.raises(DatasetError, match=r"SE3 holds no pose: .*not finite"):
        codec.unpack_value(fields | {"actor_t_box_m": [0.0, float("inf"), 0.0]})


@pytest.mark.parametrize(("kind", "old"), [("ActorStates", "map_euler_deg"), ("CameraShot", "camera_euler_deg")])
def test_angles_get_the_name_of_their_frame(kind, old):
    assert with_poses(kind, {old: 1, "other": 2}) == {"ue_euler_deg": 1, "other": 2}


def test_a_shot_told_a_field_a_sensor():
    told = {"channel": "C", "rgb": "rgb/C/0.png", "mask": "mask/C/0.png", "depth": None, "lidar": None}
    assert with_poses("CameraShot", told) == {
        "channel": "C",
        "files": {"rgb": "rgb/C/0.png", "instance": "mask/C/0.png"},
    }


def test_todays_fields_come_back_as_they_are():
    assert with_poses("DroneState", {"map_SE3_flu": 1, "drone_id": 2}) == {"map_SE3_flu": 1, "drone_id": 2}
    assert with_poses("ImageFormat", {"kind": "png"}) == {"kind": "png"}
