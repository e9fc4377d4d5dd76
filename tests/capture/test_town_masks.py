"""Parked vehicles that occlude each other in ground-level masks: each mask id is bound correctly or not at all."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.capture.poses import planned_poses
from tools.common.plans import scene_plan
from uavsim.capture.masks import MaskBinder, MaskView
from uavsim.geometry import cuboid, pinhole, quaternion, unreal
from uavsim.geometry.se3 import SE3
from uavsim.images.mask_pixels import runs_in
from uavsim.records.actors import labelled_tags
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.simulate.ports import SensorPose

HALF_M = (2.1, 0.9, 0.7)
MIDDLE = SE3(quaternion.IDENTITY, np.array([0.0, 0.0, HALF_M[2]]))
ROW_M = np.array([[6.0 * n, 0.0, 0.0] for n in range(8)])  # nose to tail along a kerb
FIRST_MASK_ID = 0x8100


def _pose(position_m: tuple[float, float, float], yaw_deg: float, pitch_deg: float = 0.0) -> SensorPose:
    pose = planned_poses(scene_plan())[0]
    euler = np.array([0.0, pitch_deg, -yaw_deg])
    map_SE3_flu = unreal.map_SE3_flu_from_ue(np.array(position_m) * (1, -1, 1), ue_euler_deg=euler)
    flu_SE3_optical = SE3(quaternion.from_matrix(np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]])), np.zeros(3))
    return replace(pose, map_SE3_optical=map_SE3_flu @ flu_SE3_optical)


def _states(positions_m: np.ndarray) -> ActorStates:
    zero = np.zeros((len(positions_m), 3))
    ids = np.arange(1, len(positions_m) + 1)
    return ActorStates(ids, SE3(quaternion.IDENTITY, positions_m), zero, zero, zero, zero)


def _infos(count: int) -> list[ActorInfo]:
    return [
        ActorInfo(n, 0, "environment", f"environment.Parked_{n}", "car", HALF_M, MIDDLE, 14)
        for n in range(1, count + 1)
    ]


def _view(pose: SensorPose, positions_m: np.ndarray) -> MaskView:
    """Draw boxes, the farthest first: the n-th has the mask id FIRST_MASK_ID + n."""
    matrix = pose.sensor.spec.camera.intrinsic
    ids, tags = np.zeros((180, 320), np.uint16), np.ones((180, 320), np.uint8)
    away_m = np.linalg.norm(positions_m - pose.map_SE3_optical.translation_m, axis=1)
    for n in np.argsort(-away_m):
        box = SE3(quaternion.IDENTITY, positions_m[n]) @ MIDDLE
        optical_m = pose.map_SE3_optical.apply_inverse(cuboid.corners(box, size_lwh_m=2 * np.array(HALF_M)))
        if (optical_m[:, 2] < 0.2).any():
            continue
        outline = cv2.convexHull(pinhole.project(optical_m, intrinsic=matrix).astype(np.float32)).astype(np.int32)
        box_pixels = cv2.fillConvexPoly(np.zeros(ids.shape, np.uint8), outline, 1) > 0
        ids[box_pixels], tags[box_pixels] = FIRST_MASK_ID + n, 14
    return MaskView(pose, matrix, runs_in(ids, tags, labelled_tags([])), tags)


def _bound(binder: MaskBinder, count: int) -> list[int]:
    return binder.instance_ids(np.arange(FIRST_MASK_ID, FIRST_MASK_ID + count)).tolist()


GROUND = [_pose((-12.0 + 2 * n, 2.5, 1.6), yaw_deg=-4.0) for n in range(3)]  # a car that drives up to the row
ABOVE = [_pose((21.0, 0.0, 40.0), yaw_deg=0.0, pitch_deg=-90.0)]


@pytest.mark.parametrize("poses", [GROUND, GROUND[::-1], [*ABOVE, *GROUND], [*GROUND, *ABOVE]])
def test_no_vehicle_is_bound_to_another_box(poses: list[SensorPose]) -> None:
    binder = MaskBinder(_infos(len(ROW_M)))
    for pose in poses:
        binder.learn([_view(pose, ROW_M)], _states(ROW_M))
        bound = _bound(binder, len(ROW_M))
        assert all(found in {0, n + 1} for n, found in enumerate(bound)), bound


def test_views_from_above_bind_all_vehicles() -> None:
    binder = MaskBinder(_infos(len(ROW_M)))
    binder.learn([_view(pose, ROW_M) for pose in (*GROUND, *ABOVE)], _states(ROW_M))
    assert _bound(binder, len(ROW_M)) == list(range(1, len(ROW_M) + 1))


def test_unlisted_vehicle_in_front_of_a_listed_one_is_not_bound() -> None:
    """An unlisted town mesh hides a listed car completely or partly."""
    listed = np.array([[14.0, 0.0, 0.0]])
    for aside_m in (0.0, 1.0, 1.8):
        both = np.concatenate([listed, [[8.0, aside_m, 0.0]]])
        binder = MaskBinder(_infos(1))
        for pose in GROUND:
            binder.learn([_view(pose, both)], _states(listed))
            assert _bound(binder, 2)[1] == 0, aside_m


def test_box_beside_the_camera_does_not_make_others_ambiguous() -> None:
    """A box that extends behind the camera, as below a low drone, is outside of the image."""
    positions = np.array([[12.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    binder = MaskBinder(_infos(2))
    binder.learn([_view(_pose((0.0, 0.0, 6.0), yaw_deg=0.0, pitch_deg=-20.0), positions)], _states(positions))
    assert _bound(binder, 2) == [1, 0]
