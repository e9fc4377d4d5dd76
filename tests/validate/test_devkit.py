"""The unmodified devkit loads and draws datasets, projects like CARLA, and scores the ground truth with 1."""

import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.validate.disk import Disk
from tests.validate.small import VERSION, write_small
from tests.validate.unreal_view import corners_ue, load, project_ue
from tools.common.factories import street
from uavsim.errors import InputError
from uavsim.typing import JsonDict
from uavsim.validate.devkit_process import devkit_report, problems_of, run_judge


@pytest.fixture(scope="module")
def report(clean: Path) -> JsonDict:
    return devkit_report(clean, VERSION)


def test_every_check_of_the_devkit_passes(report: JsonDict) -> None:
    assert problems_of(report) == []
    assert report["ok"]


def test_truth_as_predictions_scores_one_for_each_class_there(report: JsonDict) -> None:
    detection, tracking = report["checks"]["detection"], report["checks"]["tracking"]
    assert set(detection["classes"]) == {"bicycle", "bus", "car", "motorcycle", "pedestrian", "truck"}
    assert {round(row["ap"], 9) for row in detection["classes"].values()} == {1.0}
    assert {row["amota"] for row in tracking["classes"].values()} == {1.0}
    assert tracking["identity_switches"] == 0
    assert detection["devkit_map_of_10"] == pytest.approx(0.6)  # six classes of ten: why we report our own mean


def test_box_velocity_is_the_simulators_for_cars_that_drive_straight(report: JsonDict) -> None:
    velocity = report["checks"]["velocity"]
    assert velocity["not_finite"] == 0
    assert velocity["compared"] >= 6
    assert velocity["worst_mps"] < 0.3


@pytest.mark.release
@pytest.mark.parametrize("samples", [1, 2])
def test_scenes_too_short_for_a_velocity_in_their_middle_are_good(samples: int, tmp_path: Path) -> None:
    short = write_small(tmp_path / "short", tmp_path / "recordings", samples=samples)
    report = devkit_report(short, VERSION)
    velocity = report["checks"]["velocity"]
    assert problems_of(report) == []
    assert velocity["compared"] == 0
    assert velocity["note"] == "nothing to compare: no car is seen in three successive samples"


@pytest.mark.release
@pytest.mark.parametrize("at_m", [(), (400.0,), (130.0,)], ids=["no box", "none in sight", "none in range"])
def test_dataset_without_scored_boxes_has_nothing_to_compare(at_m: tuple[float, ...], tmp_path: Path) -> None:
    movers = [replace(street()[0], at=(x, 0.0, 0.02), speed=0.0) for x in at_m]
    empty = write_small(tmp_path / "empty", tmp_path / "recordings", samples=3, movers=movers)
    report = devkit_report(empty, VERSION)
    assert problems_of(report) == []
    for task in ("detection", "tracking"):
        assert report["checks"][task]["note"].startswith("nothing to compare: no ")


def test_a_velocity_that_is_not_the_simulators_fails(clean: Path, tmp_path: Path) -> None:
    disk = Disk(clean, tmp_path / "wrong")
    with disk.rows("sample_annotation") as boxes:
        for box in boxes:
            box["uav_velocity"] = [box["uav_velocity"][0] + 2.0, *box["uav_velocity"][1:]]
    report = run_judge("devkit_check", str(disk.root), VERSION, "--only", "velocity")
    assert problems_of(report)[0].startswith("devkit velocity: ")


def test_velocities_by_which_no_car_drives_straight_fail(clean: Path, tmp_path: Path) -> None:
    disk = Disk(clean, tmp_path / "wild")
    with disk.rows("sample_annotation") as boxes:
        for box in boxes:
            wild = zlib.crc32(box["sample_token"].encode()) % 9973
            box["uav_velocity"] = [float(wild), *box["uav_velocity"][1:]]
    report = run_judge("devkit_check", str(disk.root), VERSION, "--only", "velocity")
    velocity = report["checks"]["velocity"]
    assert velocity["compared"] == 0
    assert not velocity["ok"]


def test_a_split_of_splits_json_is_evaluated_alone(clean: Path) -> None:
    report = run_judge("devkit_check", str(clean), VERSION, "--split", "uav_val", "--only", "detection")
    assert report["checks"]["detection"]["scenes"] == 1


def test_devkit_projects_every_corner_where_carla_does(clean: Path, tmp_path: Path) -> None:
    file = tmp_path / "corners.npz"
    more = ("--only", "corners", "--corners", str(file), "--corner-samples", "6", "--all-boxes")
    run_judge("devkit_check", str(clean), VERSION, *more)
    reported = np.load(file)
    boxes, cameras = load(clean, VERSION, "sample_annotation"), load(clean, VERSION, "camera_pose")
    images, calibrations = load(clean, VERSION, "sample_data"), load(clean, VERSION, "calibrated_sensor")
    worst, compared = 0.0, 0
    for box, image, uv_depth in zip(reported["annotation"], reported["sample_data"], reported["uv_depth"], strict=True):
        k = np.array(calibrations[images[image]["calibrated_sensor_token"]]["camera_intrinsic"])
        pixels, depth = project_ue(corners_ue(boxes[box]), cameras[image], k)
        ahead = depth > 1.0
        np.testing.assert_allclose(uv_depth[:, 2], depth, atol=1e-9)
        worst = max(worst, np.abs(uv_depth[ahead, :2] - pixels[ahead]).max(initial=0.0))
        compared += int(ahead.sum())
    assert compared > 1500
    assert worst < 1e-6


def test_the_devkit_refuses_what_is_broken(clean: Path, tmp_path: Path) -> None:
    disk = Disk(clean, tmp_path / "broken")
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes)["next"] = "0" * 32
    report = run_judge("devkit_check", str(disk.root), VERSION, "--only", "tables")
    assert not report["ok"]
    assert "KeyError" in problems_of(report)[0]


def test_a_missing_judge_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UAVSIM_JUDGE_PYTHON", str(tmp_path / "python"))
    with pytest.raises(InputError, match="scripts/setup"):
        run_judge("devkit_check")
