import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.exports.test_rle import decode_rle
from tests.other_python import printed_by
from uavsim.errors import UnknownNameError
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.coco import export_coco
from uavsim.images import codec


def test_boxes_and_masks_equal_the_instance_masks(strict: Path, tmp_path: Path) -> None:
    (path,) = export_coco(ExportRequest(strict, tmp_path, split="uav_val"))
    assert path.name == "instances_uav_val.json"
    coco = json.loads(path.read_text())
    images = {image["id"]: image for image in coco["images"]}
    assert len(images) == 2 * 10
    assert len(coco["annotations"]) > 40
    assert [a["id"] for a in coco["annotations"]] == list(range(1, len(coco["annotations"]) + 1))
    names = {category["id"]: category["name"] for category in coco["categories"]}
    assert names[17] == "vehicle.car"
    for annotation in coco["annotations"]:
        image = images[annotation["image_id"]]
        mask = decode_rle(annotation["segmentation"])
        stored = strict / image["file_name"].replace("samples/", "masks/")
        ids, _ = codec.mask_ids_and_tags(stored)
        np.testing.assert_array_equal(mask, ids == annotation["instance_id"])
        lines, columns = np.nonzero(mask)
        x, y, w, h = annotation["bbox"]
        assert (x, y, x + w, y + h) == (columns.min(), lines.min(), columns.max() + 1, lines.max() + 1)
        assert annotation["area"] == mask.sum()
    assert not [p for p in tmp_path.iterdir() if p != path]


def test_ignored_regions_are_crowds(strict: Path, tmp_path: Path) -> None:
    shutil.copytree(strict, root := tmp_path / "set")
    version = next(root.glob("v1.0-*"))
    rows = json.loads((version / "sample_data.json").read_text())
    image = next(row for row in rows if row["is_key_frame"] and row["fileformat"] == "png")
    mask = root / image["filename"].replace("samples/", "masks/")
    ids, tags = codec.mask_ids_and_tags(mask)
    ids[2:5, 3:9], tags[2:5, 3:9] = 0, 14
    mask.unlink()
    mask.write_bytes(codec.encode_mask_ids(ids, tags))
    region = {"token": "r", "sample_data_token": image["token"], "semantic_tag": 14, "box": [3, 2, 9, 5], "pixels": 18}
    (version / "ignore_region.json").write_text(json.dumps([region]))

    (path,) = export_coco(ExportRequest(root, tmp_path / "coco"))

    crowds = [a for a in json.loads(path.read_text())["annotations"] if a["iscrowd"]]
    assert {a["category_id"] for a in crowds} > {17}  # of cars
    assert {(*a["bbox"], a["area"]) for a in crowds} == {(3, 2, 6, 3, 18)}
    assert all(decode_rle(a["segmentation"])[2:5, 3:9].all() for a in crowds)


def test_pycocotools_reads_the_file(strict: Path, tmp_path: Path) -> None:
    (path,) = export_coco(ExportRequest(strict, tmp_path))
    script = (
        "import sys, contextlib, io\n"
        "from pycocotools.coco import COCO\n"
        "with contextlib.redirect_stdout(io.StringIO()): coco = COCO(sys.argv[1])\n"
        "bad = [a for a in coco.loadAnns(coco.getAnnIds()) if coco.annToMask(a).sum() != a['area']]\n"
        "print(len(coco.imgs), len(coco.anns) > 80, len(bad))\n"
    )
    assert printed_by("judge", script, path).split() == ["40", "True", "0"]


def test_unknown_split_is_refused(strict: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="uav_val"):
        export_coco(ExportRequest(strict, tmp_path, split="uav_vall"))
    with pytest.raises(UnknownNameError, match=r"unknown split 'x'; known: uav_train, uav_val$"):
        export_coco(ExportRequest(strict, tmp_path, split="x"))
