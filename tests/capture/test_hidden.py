import numpy as np

from tests.capture.poses import planned_poses
from tools.common.plans import scene_plan
from uavsim.capture.hidden import HiddenPixels
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.images.mask_pixels import runs_in
from uavsim.records.actors import labelled_tags
from uavsim.records.modalities import Mask
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.simulate.ports import SensorPose

CAR, BICYCLE, ODD = 1, 2, 3
BOX = SE3(quaternion.IDENTITY, np.array([0.0, 0.0, 0.7]))
INFOS = (
    ActorInfo(CAR, 301, "vehicle", "vehicle.audi.tt", "car", (2.0, 1.0, 0.7), BOX, 14),
    ActorInfo(BICYCLE, 302, "vehicle", "vehicle.bh.crossbike", "bicycle", (0.8, 0.3, 0.7), BOX, 19),
    ActorInfo(ODD, 303, "vehicle", "vehicle.yamaha.yzf", "motorcycle", (0.0, 0.0, 0.0), BOX, 18),
)
TAG = {info.instance_id: info.semantic_tag for info in INFOS}


def looking_down() -> SensorPose:
    """Return the pose of a camera that looks straight down; the ground's depth is its height."""
    return next(p for p in planned_poses(scene_plan()) if "BOTTOM" in p.channel)


POSE = looking_down()
HEIGHT_M = float(POSE.map_SE3_optical.translation_m[2])
BELOW = POSE.map_SE3_optical.translation_m * [1, 1, 0]
ZERO = np.zeros((3, 3))
STATES = ActorStates(np.array([1, 2, 3]), SE3(quaternion.IDENTITY, np.tile(BELOW, (3, 1))), ZERO, ZERO, ZERO, ZERO)
ROOF_M = HEIGHT_M - 1.4  # the depth of the boxes' tops


def remaining(instance_id: int, depth_m: list[float]) -> tuple[list[int], list[int]]:
    """Process a row of six pixels, all but the first of one actor; returns the remaining ids and tags."""
    ids, tags = np.zeros((4, 6), np.uint16), np.ones((4, 6), np.uint8)
    ids[2, 1:], tags[2, 1:] = instance_id, TAG[instance_id]
    depth = np.full((4, 6), 0.5)  # in front of all, where no actor is
    depth[2, 1:] = depth_m
    mask = Mask(None, tags.copy(), runs_in(ids, tags, labelled_tags(INFOS)))
    left = HiddenPixels(INFOS).remove(mask, depth, POSE, STATES)
    others = np.arange(4) != 2
    np.testing.assert_array_equal(left.tags[others], tags[others])
    np.testing.assert_array_equal(mask.tags, tags)
    return left.ids[2].tolist(), left.tags[2].tolist()


def test_pixels_nearer_than_the_box_are_removed() -> None:
    depth_m = [ROOF_M, ROOF_M - 0.7, ROOF_M - 0.4, ROOF_M - 9.0, HEIGHT_M]
    assert remaining(CAR, depth_m) == ([0, 1, 0, 1, 0, 1], [1, 14, 0, 14, 0, 14])


def test_pixels_of_an_id_without_a_box_stay() -> None:
    ids, tags = np.full((4, 6), CAR, np.uint16), np.full((4, 6), 14, np.uint8)
    ids[0] = 77
    left = HiddenPixels(INFOS).remove(
        Mask(None, tags, runs_in(ids, tags, labelled_tags(INFOS))), np.full((4, 6), 0.5), POSE, STATES
    )
    assert left.ids[:, 0].tolist() == [77, 0, 0, 0]


def test_confirmed_mask_is_unchanged() -> None:
    ids, tags = np.full((4, 6), CAR, np.uint16), np.full((4, 6), 14, np.uint8)
    mask = Mask(None, tags, runs_in(ids, tags, labelled_tags(INFOS)))
    assert HiddenPixels(INFOS).remove(mask, np.full((4, 6), ROOF_M), POSE, STATES) is mask


def test_rider_may_exceed_the_box() -> None:
    assert remaining(BICYCLE, [ROOF_M - 1.0] * 4 + [ROOF_M - 1.5])[0] == [0, 2, 2, 2, 2, 0]


def test_implausible_box_removes_nothing() -> None:
    assert remaining(ODD, [1.0] * 5)[0] == [0, 3, 3, 3, 3, 3]
