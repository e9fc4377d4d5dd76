"""UAV3D's own code on our uav3d dialect; it is not ours to commit, so this runs where a checkout of it is named."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tools.common.factories import make_recording
from uavsim.annotate import annotate, write_lidar_files
from uavsim.dataset import assemble, final_paths, pack_fragment, scene_fragment
from uavsim.evaluate.uav3d_judge import uav3d_report

FOLDER = os.environ.get("UAVSIM_UAV3D_FOLDER", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="UAVSIM_UAV3D_FOLDER names no checkout of UAV3D")


def _write(root: Path, work: Path, version: str, scenes: dict[str, tuple[int, str]]) -> Path:
    fragments = []
    for name, (index, split) in scenes.items():
        size = (192, 108)
        recording = make_recording(
            work / name,
            scene=name,
            scene_index=index,
            splits=(split,),
            version=version,
            samples=3,
            sweeps=0,
            size_px=size,
        )
        fragments.append(pack_fragment(scene_fragment(annotate(recording))))
        for source, target in (final_paths(recording) | write_lidar_files(recording)).items():
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(work / name / source, root / target)
    assemble(root, fragments)
    return root


@pytest.mark.parametrize(
    ("version", "scenes", "made"),
    [
        (
            "v1.0-mini",
            {"scene_00": (0, "uav_train"), "scene_01": (1, "uav_val")},
            ("uav_converter_mini", ["uav3d_infos_train.pkl", "uav3d_infos_val.pkl"]),
        ),
        (
            "v1.0-trainval",
            {"scene_0000": (0, "uav_train"), "scene_0001": (1, "uav_val")},
            ("uav_converter", ["uav3d_infos_train.pkl", "uav3d_infos_val.pkl"]),
        ),
        ("v1.0-test", {"scene_0011": (11, "uav_test")}, ("uav_converter", ["uav3d_infos_test.pkl"])),
    ],
)
def test_their_code_reads_ours(
    version: str, scenes: dict[str, tuple[int, str]], made: tuple[str, list[str]], tmp_path: Path
) -> None:
    root = _write(tmp_path / "strict", tmp_path / "recordings", version, scenes)
    (tmp_path / "work").mkdir()
    report = uav3d_report(Path(FOLDER), root, version, tmp_path / "work")
    problems = {name: check.get("problems") for name, check in report["checks"].items() if not check["ok"]}
    assert problems == {}
    checks = report["checks"]
    assert sorted(checks["converters"]["infos"][made[0]]) == made[1]
    assert checks["projections"]["box_views"] > 30
    assert {round(v["car_ap"], 9) for v in checks["detection"].values() if isinstance(v, dict)} == {1.0}
