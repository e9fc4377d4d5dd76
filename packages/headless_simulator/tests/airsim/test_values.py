import math
from typing import Any

import pytest
from headless_simulator.airsim import ned, values
from headless_simulator.errors import BadArgument

POSE = {"position": {"x_val": 1, "y_val": 2, "z_val": 3}, "orientation": ned.quat_map(ned.IDENTITY)}


def test_a_pose_is_read() -> None:
    assert values.pose_of(POSE, "pose") == ((1, 2, 3), (1, 0, 0, 0))


@pytest.mark.parametrize("wrong", [None, 5, {}, {"x_val": 1, "y_val": "2", "z_val": 3}, {"x_val": 10**400}])
def test_invalid_vector_is_refused_with_its_parameter(wrong: Any) -> None:
    with pytest.raises(BadArgument, match=r"wind: expected a Vector3r"):
        values.vector_of(wrong, "wind")


def test_pose_may_hold_nan_but_finite_pose_may_not() -> None:
    pose = {**POSE, "position": {"x_val": math.nan, "y_val": 0, "z_val": 0}}

    assert math.isnan(values.pose_of(pose, "pose")[0][0])
    with pytest.raises(BadArgument, match="finite"):
        values.finite_pose(pose, "pose")


@pytest.mark.parametrize(("sent", "read"), [("front_center", "front_center"), (3, "3")])
def test_camera_name_may_be_a_number(sent: object, read: str) -> None:
    assert values.camera_name(sent, "camera_name") == read


@pytest.mark.parametrize("number", [-1, 10, "0", True])
def test_unknown_image_types_are_refused(number: object) -> None:
    with pytest.raises(BadArgument, match="image_type"):
        values.image_type(number, "image_type")
