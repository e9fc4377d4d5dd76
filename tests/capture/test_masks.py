import numpy as np
import pytest

from tests.capture.poses import planned_poses
from tests.encounter_factory import HALF_M, encounter_plan, place_of
from tools.common.plans import scene_plan
from uavsim.capture.masks import MaskBinder, MaskView
from uavsim.errors import MissedTick
from uavsim.geometry import pinhole, quaternion
from uavsim.geometry.se3 import SE3
from uavsim.images.mask_pixels import runs_in
from uavsim.images.regions import ROAD_USER_TAGS
from uavsim.records.actors import labelled_tags
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.simulate.ports import SensorPose

ACTOR_IDS = [301, 77, 1042]
BOX = SE3(quaternion.IDENTITY, np.array([0.0, 0.0, 0.7]))


def _infos() -> list[ActorInfo]:
    return [
        ActorInfo(n, actor_id, "vehicle", "vehicle.audi.tt", "car", (2.1, 1.0, 0.7), BOX, 14)
        for n, actor_id in enumerate(ACTOR_IDS, start=1)
    ]


def _states(shift_m: float = 0.0) -> ActorStates:
    t_m = np.array([[-10.0, -30.0, 0.0], [8.0, -24.0, 0.0], [-22.0, -38.0, 0.0]]) + [shift_m, 0, 0]
    zero = np.zeros((3, 3))
    return ActorStates(np.array([1, 2, 3]), SE3(quaternion.IDENTITY, t_m), zero, zero, zero, zero)


def _views(mask_ids: list[int], states: ActorStates, *, half_width_px: int = 3) -> list[MaskView]:
    """Draw a patch of each actor's id at its projected centre, and a parked car without an actor."""
    views = []
    for pose in planned_poses(scene_plan()):
        ids, tags = np.zeros((180, 320), np.uint16), np.ones((180, 320), np.uint8)
        ids[:8, :8], tags[:8, :8] = 0x8123, 14
        optical = pose.map_SE3_optical.apply_inverse(states.map_SE3_actor.translation_m + [0, 0, 0.7])
        middle_px = pinhole.project(optical, intrinsic=pose.sensor.spec.camera.intrinsic)
        for mask_id, (u, v) in zip(mask_ids, middle_px, strict=True):
            if 5 < u < 315 and 5 < v < 175:
                patch = np.s_[int(v) - 3 : int(v) + 4, max(int(u) - half_width_px, 0) : int(u) + half_width_px + 1]
                ids[patch] = mask_id
                tags[patch] = 14
        views.append(_view(pose, ids, tags))
    return views


def _view(pose: SensorPose, ids: np.ndarray, tags: np.ndarray) -> MaskView:
    runs = runs_in(ids, tags, labelled_tags(_infos()))
    return MaskView(pose, pose.sensor.spec.camera.intrinsic, runs, tags)


def translated(binder: MaskBinder, mask_ids: list[int]) -> list[int]:
    return binder.instance_ids(np.array(mask_ids)).tolist()


def test_id_whose_pixels_leave_the_box_is_unbound() -> None:
    """Ids are voted: 0.9.15 numbers masks by Unreal's ids, and a car behind another one is in its box, too."""
    binder, states = MaskBinder(_infos()), _states()
    mask_ids = [501, 502, 503]
    binder.learn(_views(mask_ids, states), states)
    assert (binder.mode, translated(binder, mask_ids)) == ("voted", [1, 2, 3])
    binder.learn(_views(mask_ids, states, half_width_px=80), states)

    assert translated(binder, mask_ids) == [0, 0, 0]


def test_building_with_an_actors_number_is_not_that_actor() -> None:
    """16-bit ids collide after some hundred scenes."""
    binder = MaskBinder(_infos())
    binder.learn(_views(ACTOR_IDS, _states()), _states())
    (view, *_), ids = _views(ACTOR_IDS, _states()), np.array([[301, 77]], np.uint16)
    for tag, instance_ids in ((3, [0, 0]), (14, [1, 2])):
        assert binder.bound(_view(view.pose, ids, np.full(ids.shape, tag, np.uint8))).ids.tolist() == [instance_ids]


def test_proven_actor_ids_become_instance_ids() -> None:
    binder = MaskBinder(_infos())
    views = _views(ACTOR_IDS, _states())
    binder.learn(views, _states())
    assert binder.mode == "actor_id"
    assert translated(binder, [301, 77, 1042, 0x8123, 0]) == [1, 2, 3, 0, 0]


def test_unreal_ids_are_matched_by_position() -> None:
    binder = MaskBinder(_infos())
    binder.learn(_views([5001, 5002, 5003], _states()), _states())
    assert binder.mode == "voted"
    assert translated(binder, [5001, 5002, 5003, 301]) == [1, 2, 3, 0]


def test_actor_ids_of_wrong_actors_are_not_proven() -> None:
    """The ids are actor ids, but of the wrong actors."""
    binder = MaskBinder(_infos())
    binder.learn(_views([77, 1042, 301], _states()), _states())
    assert binder.mode == "voted"
    assert translated(binder, [77, 1042, 301]) == [1, 2, 3]


def test_masks_of_another_tick_are_refused() -> None:
    binder = MaskBinder(_infos())
    binder.learn(_views(ACTOR_IDS, _states()), _states())
    with pytest.raises(MissedTick, match="of another tick"):
        binder.learn(_views(ACTOR_IDS, _states()), _states(shift_m=12.0))


def _with_parked(views: list[MaskView], states: ActorStates, *, width_px: int = 9) -> list[MaskView]:
    """Draw parked cars, 9 pixels high, over the centre of each actor without pixels."""
    parked = []
    for view in views:
        ids, tags = np.zeros(view.tags.shape, np.uint16), np.ones_like(view.tags)
        optical = view.pose.map_SE3_optical.apply_inverse(states.map_SE3_actor.translation_m + [0, 0, 0.7])
        for n, (u, v) in enumerate(pinhole.project(optical, intrinsic=view.intrinsic)):
            if 5 < u < 315 and 5 < v < 175:
                rows, columns = slice(int(v) - 4, int(v) + 5), slice(int(u) - 4, int(u) - 4 + width_px)
                ids[rows, columns], tags[rows, columns] = 0x8123 + n, 14
        parked.append(_view(view.pose, ids, tags))
    return parked


def test_parked_car_in_front_is_no_evidence_once_ids_are_proven() -> None:
    """A hidden car's box contains the centre of a parked one, and nothing else is visible in the tick."""
    binder = MaskBinder(_infos())
    views = _views(ACTOR_IDS, _states())
    binder.learn(views, _states())
    binder.learn(_with_parked(views, _states()), _states())
    assert binder.mode == "actor_id"
    assert translated(binder, [301, 77, 1042, 0x8123]) == [1, 2, 3, 0]


def test_sliver_of_a_parked_car_does_not_start_a_vote() -> None:
    binder = MaskBinder(_infos())
    views = _views(ACTOR_IDS, _states())
    binder.learn(_with_parked(views, _states(), width_px=2), _states())
    assert binder.mode == ""
    binder.learn(views, _states())
    assert binder.mode == "actor_id"
    assert translated(binder, [0x8123]) == [0]


def test_labelled_tags_include_all_road_users() -> None:
    """Road users without a box are found by these tags and become ignore regions."""
    assert set(ROAD_USER_TAGS) <= set(np.flatnonzero(labelled_tags([])).tolist())


def test_no_views_prove_nothing() -> None:
    binder = MaskBinder(_infos())
    binder.learn([], _states())
    assert binder.mode == ""


def test_parked_vehicles_are_matched_by_position_beside_proven_ids() -> None:
    """Actor 3 is a town object: its mask id is no actor's id."""
    infos = _infos()
    infos[2] = ActorInfo(3, 0, "environment", "environment.Parked_12", "car", (2.1, 1.0, 0.7), BOX, 14)
    binder = MaskBinder(infos)
    binder.learn(_views([301, 77, 0x8042], _states()), _states())
    assert binder.mode == "actor_id"
    assert translated(binder, [301, 77, 0x8042, 0x8123]) == [1, 2, 3, 0]


def test_pixels_without_id_are_no_parked_vehicle() -> None:
    """In topology merged, a parked vehicle's pixels have the mask id of the town."""
    infos = _infos()
    infos[2] = ActorInfo(3, 0, "environment", "environment.Parked_12", "car", (2.1, 1.0, 0.7), BOX, 14)
    binder = MaskBinder(infos)
    binder.learn(_views([301, 77, 0], _states()), _states())
    assert translated(binder, [301, 77, 0]) == [1, 2, 0]


def test_two_pixels_of_a_lone_intruder_prove_ids() -> None:
    """The only visible actor is a distant aeroplane in the sky."""
    plan = encounter_plan()
    flying = ActorInfo(3, 1042, "intruder", "static.prop.aeroplane", "", HALF_M, SE3.identity(), 21)
    position_m = place_of(0, above_m=30.0)
    zero = np.zeros((1, 3))
    states = ActorStates(np.array([3]), SE3(quaternion.IDENTITY, position_m[None]), zero, zero, zero, zero)
    (pose,) = planned_poses(plan)
    matrix = pose.sensor.spec.camera.intrinsic
    column, line = pinhole.project(pose.map_SE3_optical.apply_inverse(position_m), intrinsic=matrix).astype(int)
    ids, tags = np.zeros((160, 200), np.uint16), np.full((160, 200), 11, np.uint8)
    ids[line, column : column + 2], tags[line, column : column + 2] = 1042, 21

    binder = MaskBinder([flying])
    view = MaskView(pose, matrix, runs_in(ids, tags, labelled_tags([flying])), tags)
    binder.learn([view], states)

    assert binder.mode == "actor_id"
    assert np.count_nonzero(binder.bound(view).ids == 3) == 2
