from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.dataset_factory import make_dataset
from tools.common.factories import F, Mover, make_recording, street, ue_matrix
from uavsim.annotate import AnnotateOptions, annotate, options_of_plan, write_label_files
from uavsim.annotate.boxes import rows_in_range
from uavsim.annotate.lidar_files import lidar_top_points
from uavsim.annotate.relocate import in_dataset
from uavsim.annotate.scene import unlisted_vehicles, visibility_levels
from uavsim.dataset import scene_fragment
from uavsim.errors import DatasetError, InputError
from uavsim.geometry.se3 import SE3
from uavsim.images import codec, mask_pixels
from uavsim.ingredients.traffic import ParkedPlan
from uavsim.records.labels import UNLISTED, IgnoredLabels, SceneLabels
from uavsim.records.plan import LabelPlan
from uavsim.records.recording import Recording

SMALL: dict[str, Any] = {"drones": 1, "size_px": (64, 36), "sweeps": 0}


def test_box_centres_are_origins_plus_rotated_offsets(labels: SceneLabels) -> None:
    cast, boxes = street(), labels.boxes
    for row in range(len(boxes)):
        mover = cast[boxes.instance_id[row] - 1]
        if not any(mover.half):
            continue
        time_s = boxes.sample_index[row] * 0.5
        heading = np.radians(mover.rpy[2])
        at = np.array(mover.at) + mover.speed * time_s * np.array([np.cos(heading), np.sin(heading), 0])
        turn = ue_matrix(mover.rpy[0], mover.rpy[1], float(np.float32(mover.rpy[2] + mover.yaw_rate * time_s)))
        np.testing.assert_allclose(boxes.map_SE3_box[row].translation_m, F @ (at + turn @ mover.box_offset), atol=1e-6)


def test_classes_and_range_select_boxes(recording: Recording) -> None:
    near = annotate(recording, options=AnnotateOptions(classes=("car", "bus"), range_m=40.0))
    assert {actor.label for actor in near.actors} == {"car", "bus"}
    far = 11  # the car 140 m away
    assert far not in near.boxes.instance_id
    assert far in annotate(recording, options=AnnotateOptions(range_m=500.0)).boxes.instance_id


def test_missed_samples_count_the_gap_in_a_track(tmp_path: Path) -> None:
    out_and_back = Mover("vehicle.audi.tt", "car", 14, (2.1, 1.0, 0.7), (0, 0, 0.7), (30.0, 0, 0), (0, 0, 0))
    recording = make_recording(tmp_path, movers=[out_and_back], samples=4, **SMALL)
    frames = list(recording.frames)
    here = frames[1].actors.map_SE3_actor
    away = replace(frames[1].actors, map_SE3_actor=SE3(here.quat_wxyz, here.translation_m + [500.0, 0, 0]))
    frames[1] = replace(frames[1], actors=away)
    frames[2] = replace(frames[2], actors=away)
    labels = annotate(replace(recording, frames=tuple(frames)), options=AnnotateOptions(range_m=100.0))
    assert labels.boxes.sample_index.tolist() == [0, 3]
    assert labels.boxes.missed_samples.tolist() == [0, 2]
    rows = scene_fragment(labels).rows["sample_annotation"]
    assert rows[0]["next"] == rows[1]["token"]


def test_removed_actor_is_noticed(labels: SceneLabels) -> None:
    removed = {actor.info.instance_id: actor.removed_at_sample for actor in labels.actors}
    assert removed[10] == 2
    assert {k for k, v in removed.items() if v is not None} == {10}


def test_town_vehicle_is_labelled_parked(tmp_path: Path) -> None:
    parked = Mover(
        "vehicle.nissan.micra", "car", 14, (1.8, 0.85, 0.75), (0, 0, 0.7), (2, 2, 0), (0, 0, 40), kind="environment"
    )
    recording = make_recording(tmp_path, movers=[parked], samples=2, **SMALL)
    with_it = annotate(recording)
    assert scene_fragment(with_it).rows["instance"][0]["uav_kind"] == "environment"
    assert with_it.boxes.attribute.tolist() == [2, 2]  # vehicle.parked
    assert len(with_it.ignored) == 0


def test_road_users_without_a_box_are_ignore_regions(tmp_path: Path) -> None:
    car = Mover("vehicle.nissan.micra", "car", 14, (1.8, 0.85, 0.75), (0, 0, 0.7), (2, 2, 0), (0, 0, 40))
    recording = make_recording(tmp_path, movers=[car], samples=1, **SMALL)
    rows = scene_fragment(annotate(recording, options=AnnotateOptions(classes=("bus",)))).rows
    car_pixels = {
        reading.channel: tags == 14
        for reading in recording.frames[0].cameras
        for _, tags in [codec.mask_ids_and_tags(recording.folder / reading.files["instance"])]
    }
    assert any(pixels.any() for pixels in car_pixels.values())
    channel_of = {row["token"]: row["filename"].split("/")[1] for row in rows["sample_data"]}
    for row in rows["ignore_region"]:
        x0, y0, x1, y1 = row["box"]
        pixels = car_pixels[channel_of[row["sample_data_token"]]]
        assert pixels[y0:y1, x0:x1].sum() == row["pixels"]
        pixels[y0:y1, x0:x1] = False
    assert not any(pixels.any() for pixels in car_pixels.values())


def test_box_that_enters_during_the_exposure_is_counted(tmp_path: Path) -> None:
    car = Mover("vehicle.nissan.micra", "car", 14, (1.8, 0.85, 0.75), (0, 0, 0.7), (2, 2, 0), (0, 0, 40))
    recording = make_recording(tmp_path, movers=[car], samples=1, **SMALL)
    before = annotate(recording)
    ids = np.zeros((36, 64), np.uint16)
    ids[30:32, 5:8] = before.boxes.instance_id[0]
    (tmp_path / "read.png").write_bytes(mask_pixels.encode(ids, (ids > 0).astype(np.uint8)))
    (frame,) = recording.frames
    readings = tuple(replace(r, files={**r.files, "shutter_instance": "read.png"}) for r in frame.readings)
    views = annotate(replace(recording, frames=(replace(frame, readings=readings),))).views
    assert views.shutter_px.tolist() == [6] * 5
    assert views.shutter_box_px.tolist() == [[5, 30, 8, 32]] * 5
    late = ~np.isin(views.channel_index, before.views.channel_index)
    assert 0 < late.sum() < 5
    assert views.visible_px[late].tolist() == views.amodal_px[late].tolist() == [0] * late.sum()
    assert (views.truncation[late] == 1.0).all()
    assert views.visible_px[~late].tolist() == before.views.visible_px.tolist()


def test_empty_scene(tmp_path: Path) -> None:
    labels = annotate(make_recording(tmp_path, movers=[], samples=2, **SMALL))
    assert len(labels.boxes) == len(labels.views) == 0
    assert scene_fragment(labels).rows["sample_annotation"] == []


def test_visibility_levels_at_their_edges() -> None:
    levels = visibility_levels(np.array([0, 39, 40, 59, 60, 79, 80, 100, 0]), np.array([100] * 8 + [0]))
    assert levels.tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 1]


def test_labels_are_repeatable_and_equal_from_the_dataset(recording: Recording, tmp_path: Path) -> None:
    first, second = (scene_fragment(annotate(recording)).rows for _ in range(2))
    assert first == second
    root = make_dataset(tmp_path / "set", scenes=1, samples=2, drones=1, size_px=(64, 36))
    original = make_recording(tmp_path / "raw", samples=2, drones=1, size_px=(64, 36))
    moved = in_dataset(original, root)
    assert scene_fragment(annotate(moved)).rows == scene_fragment(annotate(original)).rows


def test_missing_and_wrong_masks_are_reported(tmp_path: Path) -> None:
    recording = make_recording(tmp_path, samples=1, **SMALL)
    frame = recording.frames[0]
    bare = replace(frame, readings=(replace(frame.cameras[0], files={"rgb": "rgb.png"}), *frame.cameras[1:]))
    with pytest.raises(DatasetError, match="no mask"):
        annotate(replace(recording, frames=(bare,)))
    camera = frame.cameras[0].sensor
    wide = replace(camera, spec=replace(camera.spec, params=replace(camera.spec.camera, width_px=65)))
    large = replace(frame, readings=(replace(frame.cameras[0], sensor=wide), *frame.cameras[1:]))
    with pytest.raises(DatasetError, match="but its camera is"):
        annotate(replace(recording, frames=(large,)))
    (tmp_path / frame.cameras[0].files["instance"]).write_bytes(b"")
    with pytest.raises(DatasetError, match="neither PNG nor JPEG"):
        annotate(recording)
    sweep = replace(frame, sample_index=None)
    with pytest.raises(DatasetError, match="no keyframe"):
        annotate(replace(recording, frames=(sweep,)))


def test_options_are_validated(recording: Recording) -> None:
    with pytest.raises(InputError, match="'truck'"):
        AnnotateOptions(classes=("trucks",))
    with pytest.raises(InputError, match="range_m"):
        AnnotateOptions(range_m=0.0)
    plan = replace(recording.plan, labels=LabelPlan(classes=("car",), range_m=80.0))
    assert options_of_plan(plan) == AnnotateOptions(classes=("car",), range_m=80.0)
    with pytest.raises(InputError, match="range_m"):
        options_of_plan(replace(plan, labels=LabelPlan(range_m=-80.0)))


def test_virtual_lidar_points_are_the_ground_and_the_cars(recording: Recording) -> None:
    frame = recording.frames[0]
    points = lidar_top_points(recording, frame)
    assert points.dtype == np.float32
    near = points[np.hypot(points[:, 0], points[:, 1]) < 20]
    assert len(near) > 300
    on_road = near[near[:, 3] == 1]
    np.testing.assert_allclose(on_road[:, 2], 0.0, atol=0.02)  # z = 0 is the road
    # the first car stands at (6, 2.5) in the simulator; the drone is at (2, -1) with yaw 31 there
    yaw = np.radians(31.0)
    forward = np.array([np.cos(yaw), np.sin(yaw)]) @ [6 - 2, 2.5 + 1]
    left = -(np.array([-np.sin(yaw), np.cos(yaw)]) @ [6 - 2, 2.5 + 1])
    on_cars = near[near[:, 3] == 14]
    on_first_car = on_cars[np.hypot(on_cars[:, 0] - forward, on_cars[:, 1] - left) < 2.6]
    assert len(on_first_car) >= 4
    assert (on_first_car[:, 2] > -0.1).all()
    assert on_first_car[:, 2].max() < 1.7
    moves = write_label_files(recording)
    assert len(moves) == 3
    for old, new in moves.items():
        assert new.startswith("samples/LIDAR_TOP/scene_00__LIDAR_TOP__")
        assert (recording.folder / old).stat().st_size % 20 == 0


def test_unlisted_town_vehicles_give_a_note(recording: Recording) -> None:
    """A car's region of 500 pixels without an owner gives a note; a walker and a distant car of 20 pixels do not."""

    def regions(*of: tuple[int, int]) -> IgnoredLabels:
        pixels, tags = np.array(of, np.int64).reshape(-1, 2).T
        zeros = np.zeros(len(of), np.int64)
        return IgnoredLabels(zeros, zeros, np.zeros((len(of), 4), np.int64), pixels, tags)

    plan = replace(recording.plan, ingredients={**recording.plan.ingredients, "parked": ParkedPlan()})
    with_parked, car, walker, far = replace(recording, plan=plan), (500, 14), (500, 12), (20, 14)
    assert unlisted_vehicles(with_parked, regions(car, walker, far)).startswith(f"{UNLISTED} (get_environment_objects")
    assert "yet 1 regions" in unlisted_vehicles(with_parked, regions(car, walker, far))
    assert unlisted_vehicles(with_parked, regions(walker, far)) == ""
    assert unlisted_vehicles(recording, regions(car)) == ""  # labels of parked vehicles were not requested
    actors = (replace(recording.actors[0], kind="environment"), *recording.actors[1:])
    assert unlisted_vehicles(replace(with_parked, actors=actors), regions(car)) == ""


def test_box_near_any_drone_is_in_range() -> None:
    def posed(*x_m: float) -> SE3:
        return SE3(np.array([1.0, 0, 0, 0]), np.array([[x, 0.0, 60.0] for x in x_m]))

    states: Any = SimpleNamespace(instance_id=np.array([4, 2, 9]), map_SE3_actor=posed(0, 900, 500))
    drones: Any = [SimpleNamespace(map_SE3_flu=pose) for pose in posed(0, 1000)]
    assert rows_in_range(states, drones, np.array([2, 4, 9]), range_m=150.0).tolist() == [1, 0]
