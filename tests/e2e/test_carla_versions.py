"""One plan on two CARLA versions, each with its own client, gives equal data where the versions agree."""

import os
from pathlib import Path

import pytest

from tests.e2e.command import succeed
from tests.e2e.flights import Flights
from tools.common.small_dataset import one_scene
from uavsim.files.parse import parse_json
from uavsim.simulate.versions import client_python

pytestmark = pytest.mark.release

PLACED = (
    "token",
    "sample_token",
    "instance_token",
    "attribute_tokens",
    "translation",
    "size",
    "rotation",
    "prev",
    "next",
)


@pytest.mark.skipif(
    not client_python("0.9.15"), reason="scripts/setup --carla 0.9.15 makes the environment of its client"
)
def test_datasets_of_0_9_15_and_0_9_16_have_equal_poses(flights: Flights, tmp_path: Path) -> None:
    made = flights.small()  # by the default version, 0.9.16
    plans = ("--dataset", made.parent / "own.yaml", "--rig", made.parent / "rig.yaml")
    env = {**os.environ, "HEADLESS_SIMULATOR_CARLA_VERSION": "0.9.15"}
    succeed("generate", *one_scene(2)[2:], *plans, "--out", tmp_path / "old", env=env)
    old, new = (
        {path.name: parse_json(path.read_text()) for path in sorted(out.glob("v1.0-*/*.json"))}
        for out in (tmp_path / "old", made)
    )
    assert [log["uav_client_version"] for log in (*old["log.json"], *new["log.json"])] == ["0.9.15", "0.9.16"]
    for name in ("ego_pose.json", "instance.json", "sample_data.json", "calibrated_sensor.json"):
        assert old[name] == new[name], name
    boxes = [rows["sample_annotation.json"] for rows in (old, new)]
    old_poses, new_poses = ([[row[key] for key in PLACED] for row in rows] for rows in boxes)
    assert old_poses == new_poses
    old_seen, new_seen = (sum(bool(row["uav_seen_by"]) for row in rows) for rows in boxes)
    assert 0.8 * new_seen <= old_seen <= new_seen  # mask ids that are not proven to be of one actor count no pixels
