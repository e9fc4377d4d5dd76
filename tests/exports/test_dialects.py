"""All formats accept both dialects, with equal results except for image names."""

import json
import pickle
import shutil
from pathlib import Path

import pytest

from tests.dataset_factory import files_of
from uavsim.errors import DatasetError
from uavsim.exports.formats import EXPORTERS, ExportRequest


def test_both_dialects_give_equal_opv2v_files(strict: Path, uav3d: Path, tmp_path: Path) -> None:
    made = [tmp_path / name for name in ("strict", "uav3d")]
    for root, out in zip((strict, uav3d), made, strict=True):
        EXPORTERS.pick("opv2v")(ExportRequest(root, out))
    one, other = map(files_of, made)
    assert one
    assert one == other


def test_image_names_are_those_on_disk(strict: Path, uav3d: Path, tmp_path: Path) -> None:
    for root, out in ((strict, tmp_path / "strict"), (uav3d, tmp_path / "uav3d")):
        for kind in ("coco", "mmdet3d"):
            EXPORTERS.pick(kind)(ExportRequest(root, out))
    one, other = (json.loads((tmp_path / name / "instances_all.json").read_bytes()) for name in ("strict", "uav3d"))
    assert one["annotations"]
    assert one["annotations"] == other["annotations"]
    infos = pickle.loads((tmp_path / "uav3d/nuscenes_infos_all.pkl").read_bytes())["data_list"]
    named = [image["file_name"] for image in other["images"]]
    named += [name for info in infos for name in (i["img_path"] for i in info["images"].values())]
    assert all((uav3d / name).is_file() for name in named)


def test_dataset_without_a_box_table_is_refused(strict: Path, tmp_path: Path) -> None:
    shutil.copytree(strict, tmp_path / "set")
    (tmp_path / "set/v1.0-mini/instance.json").unlink()
    for kind in ("coco", "mmdet3d", "opv2v"):
        with pytest.raises(DatasetError, match=r"instance\.json"):
            EXPORTERS.pick(kind)(ExportRequest(tmp_path / "set", tmp_path / kind))
