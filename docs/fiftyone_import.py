"""Load a uavsim dataset into FiftyOne, with a group of cameras for each sample, boxes, masks, tracks and occlusion.

pip install fiftyone pycocotools
uavsim export DATASET OUT --format coco
python fiftyone_import.py DATASET OUT/instances_all.json NAME
fiftyone app launch NAME
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import fiftyone as fo
from pycocotools import mask as coco_mask


def load(root: Path, annotations: Path, name: str) -> fo.Dataset:
    """Make the FiftyOne dataset ``name`` of a dataset's folder and its COCO export."""
    coco = json.loads(annotations.read_text("utf-8"))
    labels = {category["id"]: category["name"] for category in coco["categories"]}
    rows = defaultdict(list)
    for row in coco["annotations"]:
        rows[row["image_id"]].append(row)
    dataset = fo.Dataset(name, persistent=True, overwrite=True)
    dataset.add_group_field("cameras", default=coco["images"][0]["channel"])
    groups, tracks = defaultdict(fo.Group), defaultdict(fo.Instance)
    dataset.add_samples(
        fo.Sample(
            filepath=str((root / image["file_name"]).resolve()),
            cameras=groups[image["sample_token"]].element(image["channel"]),
            ground_truth=fo.Detections(
                detections=[detection(row, image, labels, tracks) for row in rows[image["id"]] if not row["iscrowd"]]
            ),
            **{key: image[key] for key in ("scene", "channel", "sample_token", "timestamp_us")},
        )
        for image in coco["images"]
    )
    return dataset


def detection(row: dict, image: dict, labels: dict[int, str], tracks: dict[tuple, fo.Instance]) -> fo.Detection:
    """Make one detection; objects of one scene with the same number are one track in all cameras."""
    x, y, width, height = row["bbox"]
    mask = coco_mask.decode(row["segmentation"]).astype(bool)[y : y + height, x : x + width]
    return fo.Detection(
        label=labels[row["category_id"]],
        bounding_box=[x / image["width"], y / image["height"], width / image["width"], height / image["height"]],
        mask=mask,
        index=row["instance_id"],
        instance=tracks[image["scene"], row["instance_id"]],
        **{key: row[key] for key in ("occlusion", "truncation", "visibility", "sample_annotation_token")},
    )


if __name__ == "__main__":
    print(load(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
