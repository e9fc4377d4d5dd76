import math
from typing import Any

import pytest
from headless_simulator.airsim import ned, values
from headless_simulator.errors import BadArgument

POSE = {"position": {"x_val": 1, "y_val": 2, "z_val": 3}, "orientation": ned.quat_map(ned.IDENTITY)}


def test_a_pose_is_read() -> None:
    assert values.pose_of(POSE, "pose") == ((1, 2, 3), (1, 0, 0, 0))


@pytest.mark.parametrize("wrong", [None, 5, {}, {"x_val": 1, "y_val": "2", "z_val": 3}, {"x_val": 10**400}])
def test_what_is_no_vector_is_refused_by_name(wrong: Any) -> None:
    with pytest.raises(BadArgument, match=r"wind: expected a Vector3r"):
        values.vector_of(wrong, "wind")


def test_a_pose_with_nan_is_one_but_not_a_finite_one() -> None:
    pose = {**POSE, "position": {"x_val": math.nan, "y_val": 0, "z_val": 0}}

    assert math.isnan(values.pose_of(pose, "pose")[0][0])
    with pytest.raises(BadArgument, match="finite"):
        values.finite_pose(pose, "pose")


@pytest.mark.parametrize(("sent", "read"), [("front_center", "front_center"), (3, "3")])
def test_cameras_have_names_or_numbers(sent: object, read: str) -> None:
    assert values.camera_name(sent, "camera_name") == read


@pytest.mark.parametrize("number", [-1, 10, "0", True])
def test_image_types_that_are_none_are_refused(number: object) -> None:
    with pytest.raises(BadArgument, match="image_type"):
        values.image_type(number, "image_type")
