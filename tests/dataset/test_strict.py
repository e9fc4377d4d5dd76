"""The strict dialect against the factory's own arithmetic in the simulator's frame."""

from dataclasses import replace

import numpy as np
import pytest

from tools.common.factories import UE_TO_OPTICAL, F, camera_pose_ue, make_plan, matrix_of, shape_of, street, ue_matrix
from uavsim.annotate import annotate
from uavsim.dataset import Fragment, final_paths, scene_fragment, strict_boxes
from uavsim.dataset.vocabulary import attribute_token, category_token
from uavsim.records.labels import SceneLabels
from uavsim.records.recording import Recording


def by_token(fragment: Fragment, table: str) -> dict:
    return {row["token"]: row for row in fragment.rows[table]}


def devkit_corners(row: dict) -> np.ndarray:
    """Return (3, 8) corners, metres, like the devkit's Box.corners by its documentation: l along x, w along y."""
    w, length, h = row["size"]
    x = length / 2 * np.array([1, 1, 1, 1, -1, -1, -1, -1])
    y = w / 2 * np.array([1, -1, -1, 1, 1, -1, -1, 1])
    z = h / 2 * np.array([1, 1, -1, -1, 1, 1, -1, -1])
    return matrix_of(row["rotation"]) @ np.stack([x, y, z]) + np.array(row["translation"])[:, None]


def test_projected_corners_are_those_of_the_simulators_own_formula(fragment: Fragment) -> None:
    sensors = by_token(fragment, "calibrated_sensor")
    poses = by_token(fragment, "ego_pose")
    keys = {}
    for row in fragment.rows["sample_data"]:
        if row["is_key_frame"] and row["height"]:
            keys.setdefault(row["sample_token"], []).append(row)
    specs = {spec.name: spec for spec in make_plan().rig}
    order = {row["token"]: k for k, row in enumerate(fragment.rows["sample"])}
    cast, compared = street(), 0
    for box in fragment.rows["sample_annotation"]:
        k = order[box["sample_token"]]
        mover = cast[box["uav_instance_id"] - 1]
        time_s = k * 0.5
        euler = np.array([*mover.rpy[:2], mover.rpy[2] + mover.yaw_rate * time_s]).astype(np.float32).astype(float)
        heading = np.array([np.cos(np.radians(mover.rpy[2])), np.sin(np.radians(mover.rpy[2])), 0])
        at = np.array(mover.at) + heading * mover.speed * time_s
        half, offset = shape_of(mover)
        signs = np.array([[x, y, z] for x in (1, -1) for y in (-1, 1) for z in (1, -1)])
        world_ue = at[:, None] + ue_matrix(*euler) @ (signs * half + offset).T
        for shot in keys[box["sample_token"]]:
            sensor, ego = sensors[shot["calibrated_sensor_token"]], poses[shot["ego_pose_token"]]
            body = matrix_of(ego["rotation"]).T @ (devkit_corners(box) - np.array(ego["translation"])[:, None])
            optical = matrix_of(sensor["rotation"]).T @ (body - np.array(sensor["translation"])[:, None])
            channel = shot["filename"].split("/")[1]
            camera_at, turn = camera_pose_ue(specs[channel.split("_")[1]], int(channel[-1]), time_s)
            truth = UE_TO_OPTICAL @ turn.T @ (world_ue - camera_at[:, None])
            if (truth[2] < 1).any():
                continue
            focal = np.array(sensor["camera_intrinsic"])
            projected_px = np.sort((focal @ optical / optical[2])[:2].round(7), axis=1)
            expected_px = np.sort((focal @ truth / truth[2])[:2].round(7), axis=1)
            if box["uav_blueprint"] != "vehicle.diamondback.century":  # its size is from our table
                np.testing.assert_allclose(projected_px, expected_px, atol=1e-6)
                compared += 1
    assert compared > 150


def test_chains_go_through_every_row_once(fragment: Fragment) -> None:
    for table in ("sample", "sample_data", "sample_annotation"):
        rows = by_token(fragment, table)
        assert len(rows) == len(fragment.rows[table])
        for row in rows.values():
            if row["next"]:
                assert rows[row["next"]]["prev"] == row["token"]
            if row["prev"]:
                assert rows[row["prev"]]["next"] == row["token"]
    annotations = by_token(fragment, "sample_annotation")
    for instance in fragment.rows["instance"]:
        token, count = instance["first_annotation_token"], 0
        assert annotations[token]["prev"] == ""
        while token:
            assert annotations[token]["instance_token"] == instance["token"]
            count, last, token = count + 1, token, annotations[token]["next"]
        assert (count, last) == (instance["nbr_annotations"], instance["last_annotation_token"])


def test_sweeps_belong_to_the_next_keyframe(fragment: Fragment) -> None:
    stamp = {row["token"]: row["timestamp"] for row in fragment.rows["sample"]}
    offsets = {
        (row["is_key_frame"], stamp[row["sample_token"]] - row["timestamp"]) for row in fragment.rows["sample_data"]
    }
    assert offsets == {(True, 0), (False, 250_000)}


def test_num_lidar_pts_counts_pixels_and_is_a_plain_int(fragment: Fragment) -> None:
    counts = [row["num_lidar_pts"] for row in fragment.rows["sample_annotation"]]
    assert all(type(n) is int for n in counts)
    assert max(counts) > 1000
    for row, detail in zip(fragment.rows["sample_annotation"], fragment.rows["visibility_detail"], strict=True):
        assert detail["token"] == row["token"]
        assert sum(view["visible_px"] for view in detail["views"]) == row["num_lidar_pts"]
        drones = {int(view["channel"][-1]) for view in detail["views"] if view["visible_px"]}
        assert sorted(drones) == row["uav_seen_by"] == detail["seen_by"]


def test_visibility_details_do_not_depend_on_the_batch_size(
    fragment: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = list(fragment.rows["visibility_detail"])
    monkeypatch.setattr(strict_boxes, "_TOGETHER", 2)
    assert len(together) > 4
    assert [bool(row["views"]) for row in together].count(True) > 4
    assert list(fragment.rows["visibility_detail"]) == together


def test_virtual_lidar_is_on_the_ground_under_drone_0(fragment: Fragment, recording: Recording) -> None:
    poses = by_token(fragment, "ego_pose")
    lidar = [row for row in fragment.rows["sample_data"] if not row["height"]]
    assert len(lidar) == 3
    for row, frame in zip(lidar, [f for f in recording.frames if f.sample_index is not None], strict=True):
        pose = poses[row["ego_pose_token"]]
        np.testing.assert_allclose(
            pose["translation"], [*frame.drones[0].map_SE3_flu.translation_m[:2], 0.0], atol=1e-12
        )
        assert pose["rotation"][1:3] == [0, 0]
        # drone 0 flies with yaw 31 + 4 t in the simulator, which is -(31 + 4 t) here
        np.testing.assert_allclose(
            np.degrees(2 * np.arctan2(pose["rotation"][3], pose["rotation"][0])),
            -(31.0 + 4.0 * (frame.sample_index or 0) / 2),
            atol=1e-9,
        )


def test_classes_attributes_and_sizes(fragment: Fragment) -> None:
    instances = {row["uav_instance_id"]: row for row in fragment.rows["instance"]}
    assert instances[2]["uav_category"] == "vehicle.lincoln.mkz2017"
    assert instances[3]["category_token"] == category_token("vehicle.car")  # a van
    assert instances[5]["category_token"] == category_token("vehicle.bus.rigid")
    assert instances[7]["uav_size_source"] == "table"
    assert instances[1]["uav_size_source"] == "simulator"
    assert instances[10]["uav_removed_at_sample"] == 2  # gone after 0.7 s, missing at the keyframe at 1.0 s
    assert instances[10]["nbr_annotations"] == 2
    assert instances[1]["uav_removed_at_sample"] is None
    attribute = {row["uav_instance_id"]: row["attribute_tokens"] for row in fragment.rows["sample_annotation"]}
    for instance, name in {
        1: "vehicle.moving",
        3: "vehicle.stopped",
        6: "cycle.with_rider",
        8: "pedestrian.moving",
        9: "vehicle.parked",
    }.items():
        assert attribute[instance] == [attribute_token(name)]


def test_rows_do_not_depend_on_the_run(labels: SceneLabels, fragment: Fragment) -> None:
    text = repr(fragment.rows)
    for info in labels.actors:
        assert f"'{info.info.simulator_actor_id}'" not in text
    assert "simulator_frame" not in text
    assert str(labels.frames[0].simulator_frame) not in text.split("timestamp")[0]


def test_velocity_is_the_simulators(fragment: Fragment) -> None:
    first = next(row for row in fragment.rows["sample_annotation"] if row["uav_instance_id"] == 1)
    heading = np.radians(12.0)
    np.testing.assert_allclose(first["uav_velocity"], 5.0 * np.array([np.cos(heading), -np.sin(heading), 0]), atol=1e-9)
    turning = next(row for row in fragment.rows["sample_annotation"] if row["uav_instance_id"] == 2)
    assert turning["uav_angular_velocity"][2] == pytest.approx(-np.radians(9.0))
    assert np.array_equal(F @ F, np.eye(3))


def test_degraded_reports_are_written_beside_the_truth(recording: Recording) -> None:
    reported = {"reported_translation": [1.0, 2.0, 3.0], "reported_rotation": [1.0, 0.0, 0.0, 0.0], "dropped": False,
            "reported_timestamp_us": 5, "arrival_timestamp_us": 9, "file": "degraded/X/000000.png"}  # fmt: skip
    frames = [
        replace(f, readings=(replace(f.readings[0], degradation=reported), *f.readings[1:]))
        for f in recording.frames[:1]
    ]
    worse = replace(recording, frames=(*frames, *recording.frames[1:]))
    rows = scene_fragment(annotate(worse)).rows
    assert len(rows["agent_view"]) == 1
    assert rows["agent_view"][0]["sample_data_token"] == rows["sample_data"][0]["token"]
    assert rows["agent_view"][0]["arrival_timestamp_us"] == 9
    assert "file" not in rows["agent_view"][0]
    (layer,) = [row for row in rows["layer"] if row["kind"] == "degraded"]
    channel = worse.frames[0].readings[0].channel
    assert layer["filename"] == final_paths(worse)["degraded/X/000000.png"]
    assert layer["filename"].startswith(f"degraded/{channel}/scene_00__{channel}__")


def test_a_scene_without_encounters_and_corner_cases_keeps_its_bytes(fragment: Fragment) -> None:
    """Certificates contain fragment hashes, so newer tables without rows are omitted."""
    assert not {"encounter", "intruder_view", "corner_case", "object_tag"} & set(fragment.rows)
