"""``labels: {occupancy: ...}`` is refused before the flight if impossible, else computed at the run's end."""

from pathlib import Path

import pytest

from uavsim.errors import InputError
from uavsim.on_top import ON_TOP
from uavsim.run.request import Request
from uavsim.run.resolve import resolve

YAML = """\
seed: 5
towns: {Town10HD: {scenes: 1, routes: [town10_row3_col3]}}
samples: 2
formation: solo
rig: RIG
traffic: {vehicles: 3}
splits: {rest: every_scene}
"""


def labelled(folder: Path, rig: str, labels: str = "labels: {occupancy: {format: occ3d, of: ['0']}}\n") -> Request:
    path = folder / f"{rig}.yaml"
    path.write_text(YAML.replace("RIG", rig) + labels)
    return Request(dataset=str(path), out=str(folder / "out"))


def test_a_rig_without_depth_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"uav3d\.yaml:8: labels\.occupancy: camera FRONT has no depth"):
        resolve(labelled(tmp_path, "uav3d"), ON_TOP)


@pytest.mark.parametrize(
    ("labels", "said"),
    [("{format: oc3d}", "unknown format 'oc3d'"), ("{of: ['7']}", "unknown agent '7'"), ("{grid: gone.yaml}", "gone")],
)
def test_settings_that_cannot_be_met_are_refused(tmp_path: Path, labels: str, said: str) -> None:
    with pytest.raises(InputError, match=rf"uav3d_depth\.yaml:8: labels\.occupancy: .*{said}"):
        resolve(labelled(tmp_path, "uav3d_depth", f"labels: {{occupancy: {labels}}}\n"), ON_TOP)


def test_a_store_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    request = labelled(tmp_path, "uav3d_depth").model_copy(update={"out": "s3://voxels/out"})
    with pytest.raises(InputError, match=r"labels\.occupancy: voxels need an output folder of this machine"):
        resolve(request, ON_TOP)


def test_what_is_asked_for_reaches_the_job(tmp_path: Path) -> None:
    job = resolve(labelled(tmp_path, "uav3d_depth"), ON_TOP)
    assert list(job.further) == ["occupancy"]
    assert resolve(labelled(tmp_path, "uav3d", ""), ON_TOP).further == {}
