"""Every sensor that a set-up can give, from YAML to a data set that the validator and the devkit accept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.test_main_job import uavsim
from uavsim.evaluate.judge_process import run_judge
from uavsim.images import codec, flow
from uavsim.validate.validator import validate_version

RIG = """\
width_px: 320
height_px: 180
sensors: [rgb, instance, depth, semantic{more}]
cameras:
  FRONT: {{pitch_deg: -45}}
  BOTTOM: {{pitch_deg: -90}}
lidar: {{mount_m: [0.5, 0.2, -0.1], pitch_deg: -10, yaw_deg: 30, channels: 32, points_per_second: 160000, upper_fov_deg: -20}}
"""
WORDS = ("--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--samples", "2", "--seed", "7")


@pytest.fixture(scope="module", params=["carla", "merged"])
def flown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "rig.yaml").write_text(RIG.format(more=", optical_flow" if request.param == "carla" else ""))
    out = folder / "out"
    done = uavsim(
        "generate", *WORDS, "--rig", folder / "rig.yaml", "--topology", request.param, "--out", out, timeout=280
    )
    assert (out / "v1.0-mini").is_dir(), done.stdout + done.stderr
    return request.param, out


def test_everything_asked_for_is_there(flown: tuple[str, Path]) -> None:
    topology, out = flown
    kinds = ["instance", "depth", "semantic", "lidar_instance"] + ["optical_flow"] * (topology == "carla")
    layer = json.loads((out / "v1.0-mini/layer.json").read_bytes())
    assert {row["kind"] for row in layer} == set(kinds)
    assert all((out / row["filename"]).is_file() for row in layer)
    assert len(list((out / "samples/LIDAR_id_3").iterdir())) == 2


def test_the_validator_and_the_devkit_agree(flown: tuple[str, Path]) -> None:
    _, out = flown
    found = [f for f in validate_version(out, "v1.0-mini", workers=1).findings if not f.code.startswith("motion")]
    assert found == []
    report = run_judge("devkit_check", str(out), "v1.0-mini", "--only", "tables", "--only", "lidar")
    lidar = report["checks"]["lidar"]
    assert report["ok"], lidar
    assert lidar["lidars"] == 5
    assert lidar["compared_with_depth"] > 5000
    assert lidar["share_as_deep"] > 0.97


def test_semantic_classes_are_those_of_the_masks(flown: tuple[str, Path]) -> None:
    _, out = flown
    for path in sorted((out / "semantic").rglob("*.png"))[:4]:
        tags = codec.decode_tags(path)
        np.testing.assert_array_equal(
            tags, codec.mask_ids_and_tags(out / "masks" / path.relative_to(out / "semantic"))[1]
        )
        assert len(np.unique(tags)) > 3


def test_flow_takes_each_pixel_back_to_where_it_was(flown: tuple[str, Path]) -> None:
    topology, out = flown
    if topology != "carla":
        return
    first, second = sorted((out / "optical_flow/CAMERA_BOTTOM_id_1").iterdir())
    assert np.isnan(flow.decode_flow(first)).all()
    flow_px = flow.decode_flow(second)
    before, after = (codec.decode_rgb(p).astype(int) for p in sorted((out / "samples/CAMERA_BOTTOM_id_1").iterdir()))
    v, u = np.indices(flow_px.shape[:2])
    was_u, was_v = np.rint(u - flow_px[..., 0]).astype(int), np.rint(v - flow_px[..., 1]).astype(int)
    inside = (was_u >= 0) & (was_u < 320) & (was_v >= 0) & (was_v < 180)
    warped = np.abs(before[was_v[inside], was_u[inside]] - after[inside]).mean()
    unwarped = np.abs(before - after)[inside].mean()
    assert inside.mean() > 0.5
    assert warped < 0.4 * unwarped
