"""Hills without a semantic tag hide vehicles in images but not in masks; with depth, labels follow the images."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from headless_simulator.testing import RunningSimulator, running_simulator

from tests.e2e.command import succeed
from uavsim.images import codec
from uavsim.records.modalities import UNCHECKED_MASKS

pytestmark = pytest.mark.release

DATASET = """\
towns: {Town04: {scenes: 2}}
formation: single
altitude_m: 12
rig: depth.yaml
samples: 2
warmup_s: 1.0
settle: false
seed: 5
traffic: {vehicles: 120}
"""
RIG = """\
width_px: 320
height_px: 180
fov_deg: 90
sensors: [rgb, instance%s]
cameras:
  FRONT: {pitch_deg: -2}
  LEFT: {yaw_deg: 90, pitch_deg: -2}
  RIGHT: {yaw_deg: -90, pitch_deg: -2}
  BACK: {yaw_deg: 180, pitch_deg: -2}
"""
SAME = ("sample_annotation", "instance", "visibility_detail", "agent_view")


@pytest.fixture(scope="module")
def flown(tmp_path_factory: pytest.TempPathFactory, simulator: RunningSimulator) -> Mapping[str, Path]:
    """Datasets of one scene: undisturbed, and with masks that look through hills, with and without depth."""
    folder = tmp_path_factory.mktemp("untagged")
    (folder / "own.yaml").write_text(DATASET)
    (folder / "depth.yaml").write_text(RIG % ", depth")
    (folder / "plain.yaml").write_text(RIG % "")
    (folder / "faults.yaml").write_text("faults: [{fault: untagged, tag: Terrain}]\n")
    job = ("generate", "--dataset", folder / "own.yaml", "--scenes", "1")
    with running_simulator("--town", "Town04", "--no-airsim", "--faults", str(folder / "faults.yaml")) as through:
        for name, rig, where, more in (
            ("truth", "depth", simulator, ("--no-check",)),
            ("depth", "depth", through, ()),
            ("plain", "plain", through, ()),
        ):
            words = ("--rig", folder / f"{rig}.yaml", "--simulator", where.carla, *more)
            succeed(*job, *words, "--out", folder / name)
    return {name: folder / name for name in ("truth", "depth", "plain")}


def pixels(out: Path) -> list[int]:
    """Count the pixels of labelled actors in each mask."""
    masks = sorted((out / "masks").rglob("*.png"))
    return [int(np.count_nonzero(codec.mask_ids_and_tags(path)[0])) for path in masks]


def rows(out: Path, name: str) -> object:
    path = out / f"v1.0-mini/{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def test_with_depth_the_labels_are_those_of_the_images(flown: Mapping[str, Path]) -> None:
    assert pixels(flown["depth"]) == pixels(flown["truth"])
    assert sum(pixels(flown["truth"])) > 0
    for name in SAME:
        assert rows(flown["depth"], name) == rows(flown["truth"], name), name


def test_without_depth_hidden_vehicles_count_as_visible_and_the_report_says_so(flown: Mapping[str, Path]) -> None:
    assert sum(pixels(flown["plain"])) > sum(pixels(flown["truth"]))
    assert rows(flown["plain"], "sample_annotation") != rows(flown["truth"], "sample_annotation")
    for name, is_reported in (("plain", True), ("truth", False)):
        page = flown[name].with_suffix(".html")
        succeed("report", flown[name], "--out", page)
        assert (f"Of 8 images: {UNCHECKED_MASKS}." in page.read_text()) is is_reported
