"""Assumptions of nuScenes converters, tested with the devkit: each test is a row of docs/converters.md."""

import json
import os
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.other_python import printed_by
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.agents import export_agents
from uavsim.exports.formats.scene_names import LISTED, NO_CAN_BUS, name_scenes
from uavsim.plan.numbering import UAV3D_HELD_OUT

LISTS = """
import json, tempfile
from pathlib import Path
from nuscenes.can_bus.can_bus_api import NuScenesCanBus
from nuscenes.utils.splits import create_splits_scenes
with tempfile.TemporaryDirectory() as root:
    Path(root, "can_bus").mkdir()
    print(json.dumps([create_splits_scenes(), NuScenesCanBus(root).can_blacklist]))
"""

AS_CONVERTERS_DO = """
import json, sys
import numpy as np
from nuscenes import NuScenes
from nuscenes.can_bus.can_bus_api import NuScenesCanBus
from nuscenes.eval.prediction.splits import get_prediction_challenge_split
from nuscenes.scripts.export_poses import get_poses
from nuscenes.utils.splits import create_splits_scenes
from pyquaternion import Quaternion

from nuscenes.utils.color_map import get_colormap

root = sys.argv[1]
nusc, can, lists = NuScenes("v1.0-mini", root, verbose=False), NuScenesCanBus(root), create_splits_scenes()
found = {"splits": {}, "logs": [log["logfile"] for log in nusc.log], "flat": [], "poses": []}
found["unknown"] = [category["name"] for category in nusc.category if category["name"] not in get_colormap()]
found["order"] = [[s["scene_token"], s["timestamp"], s["prev"]] for s in nusc.sample]
for name in ("mini_train", "mini_val"):
    found["splits"][name] = [scene["name"] for scene in nusc.scene if scene["name"] in lists[name]]
    get_prediction_challenge_split(name, root)
for scene in nusc.scene:
    messages = can.get_messages(scene["name"], "pose")
    found["poses"].append({
        "utime": [m["utime"] for m in messages], "pos": [m["pos"] for m in messages],
        "of_lidar": [[p["timestamp"], *p["translation"]] for p in get_poses(nusc, scene["token"])],
    })
for sample in nusc.sample:
    row = nusc.get("sample_data", sample["data"]["LIDAR_TOP"])
    mount = nusc.get("calibrated_sensor", row["calibrated_sensor_token"])
    pose = nusc.get("ego_pose", row["ego_pose_token"])
    messages = can.get_messages(nusc.get("scene", sample["scene_token"])["name"], "pose")
    last = [m for m in messages if m["utime"] <= sample["timestamp"]][-1]
    flat = [last.pop("utime") and 0, *last.pop("pos"), *last.pop("orientation")][1:]
    for key in last:
        flat += last[key]
    ahead = Quaternion(mount["rotation"]).inverse.rotate([1.0, 0, 0])
    found["flat"].append({
        "values": flat, "velocity": Quaternion(pose["rotation"]).inverse.rotate(np.array(pose["uav_velocity"])).tolist(),
        "first": not row["prev"], "pose": [*pose["translation"], *pose["rotation"]], "ahead": list(ahead),
        "seen": [nusc.get("sample_annotation", box)["num_lidar_pts"] for box in sample["anns"]],
    })
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def views(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return export_agents(ExportRequest(strict, tmp_path_factory.mktemp("agents")))


@pytest.fixture(scope="module")
def read(views: list[Path]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed_by("judge", AS_CONVERTERS_DO, views[0]))
    return found


def test_split_lists_equal_the_devkits() -> None:
    splits, without_can_bus = json.loads(printed_by("judge", LISTS))
    for name, numbers in LISTED.items():
        assert [f"scene-{number:04d}" for number in numbers] == sorted(splits[name])
    assert set(without_can_bus) == NO_CAN_BUS


def uav3d(count: int) -> dict[str, list[str]]:
    held_out = [number for number in range(count) if number % 10 in UAV3D_HELD_OUT]
    rest = [number for number in range(count) if number not in held_out]
    parts = {
        "uav_train": rest,
        "uav_val": [n for n in held_out if n // 10 % 2 == 0],
        "uav_test": [n for n in held_out if n // 10 % 2],
    }
    return {part: [f"scene_{number:04d}" for number in numbers] for part, numbers in parts.items()}


@pytest.mark.parametrize("count", [1000, 40])
def test_scene_names_are_in_the_list_of_their_split(count: int) -> None:
    splits = uav3d(count)
    named = name_scenes([f"scene_{n:04d}" for n in range(count)], splits, version="v1.0-mini")
    for part, scenes in splits.items():
        numbers = {int(named[scene].name[-4:]) for scene in scenes}
        assert len(numbers) == len(scenes)
        assert numbers <= set(LISTED[part.removeprefix("uav_")])
        assert {named[scene].version for scene in scenes} == {"v1.0-test" if part == "uav_test" else "v1.0-trainval"}
        assert count > 100 or not numbers & NO_CAN_BUS


def test_small_datasets_stay_mini_and_surplus_scenes_get_unlisted_names() -> None:
    few = name_scenes(["a", "b"], {"uav_val": ["b"]}, version="v1.0-mini")
    assert few == {"a": ("scene-0061", "v1.0-mini"), "b": ("scene-0103", "v1.0-mini")}
    many = [str(n) for n in range(9_000)]
    named = name_scenes(many, {}, version="v1.0-mini")
    assert [named[n].name for n in ("700", "701", "8999")] == ["scene-2001", "scene-2002", "scene-10300"]


def test_devkit_finds_scenes_by_split_and_one_log_per_scene(views: list[Path], read: dict[str, Any]) -> None:
    assert read["splits"] == {"mini_train": ["scene-0061"], "mini_val": ["scene-0103"]}
    assert len(set(read["logs"])) == 2
    names = json.loads((views[0].parent / "scene_names.json").read_bytes())
    assert names == {"scene_00": "scene-0061", "scene_01": "scene-0103"}


def test_test_scenes_are_in_v1_0_test(strict: Path, tmp_path: Path) -> None:
    root = tmp_path / "data"
    shutil.copytree(strict, root, copy_function=os.link)
    splits = root / "v1.0-mini/splits.json"
    text = splits.read_text()
    splits.unlink()
    splits.write_text(text.replace("uav_val", "uav_test"))
    view, _ = export_agents(ExportRequest(root, tmp_path / "out"))
    assert {path.name for path in view.glob("v1.0-*")} == {"v1.0-trainval", "v1.0-test"}
    (test,) = json.loads((view / "v1.0-test/scene.json").read_bytes())
    assert int(test["name"][-4:]) in LISTED["test"]


def test_flattened_can_bus_pose_has_nuscenes_order(read: dict[str, Any]) -> None:
    for sample in read["flat"]:
        values = sample["values"]
        assert len(values) == 16
        np.testing.assert_allclose(values[:7], sample["pose"], atol=1e-9)
        assert values[9] == pytest.approx(9.81)
        np.testing.assert_allclose(values[10:12], 0.0, atol=1e-9)
        np.testing.assert_allclose(values[13:16], sample["velocity"], atol=1e-9)


def test_pose_messages_are_20_ms_apart_and_pass_through_ego_poses(read: dict[str, Any]) -> None:
    for scene in read["poses"]:
        assert {later - earlier for earlier, later in pairwise(scene["utime"])} == {20_000}
        of_time = dict(zip(scene["utime"], scene["pos"], strict=True))
        assert [scene["utime"][0], scene["utime"][-1]] == [scene["of_lidar"][0][0], scene["of_lidar"][-1][0]]
        for time_us, *position_m in scene["of_lidar"]:
            np.testing.assert_allclose(of_time[time_us], position_m, atol=1e-9)


def test_samples_are_grouped_by_scene_and_scenes_do_not_overlap(read: dict[str, Any]) -> None:
    times = [time_us for _, time_us, _ in read["order"]]
    assert times == sorted(times)
    begins = [not before for *_, before in read["order"]]
    changes = [True, *(a != b for (a, *_), (b, *_) in pairwise(read["order"]))]
    assert (
        begins == changes == [sample["first"] for sample in read["flat"]]
    )  # StreamPETR splits where LIDAR_TOP has no past
    assert read["unknown"] == []  # ScenarioNet stops at a category that nuScenes has not


def test_lidar_y_axis_points_ahead_and_every_box_has_points(read: dict[str, Any]) -> None:
    for sample in read["flat"]:
        np.testing.assert_allclose(sample["ahead"], [0.0, 1.0, 0.0], atol=1e-9)
        assert min(sample["seen"]) > 0
