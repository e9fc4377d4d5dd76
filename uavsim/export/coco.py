"""COCO: 2D boxes and masks of what is really visible, from the instance masks, not from projected boxes.

One ``instances_<split>.json`` beside the images' names as they are in the data set (``file_name`` is relative to its root).
Beside COCO's own fields an annotation has ``amodal_bbox`` (the projected box), ``occlusion``, ``truncation``, ``instance_id``
and the token of its 3D box. Category ids are nuScenes' indices.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from uavsim.dataset.tables import TableWriter
from uavsim.errors import DatasetError
from uavsim.export.keyframes import CameraView, ExportRequest, Keyframe, open_source
from uavsim.export.text import write_text
from uavsim.files.parse import reading
from uavsim.files.whole import whole_file
from uavsim.images import codec
from uavsim.images.rle import encode_rle
from uavsim.typing import JsonDict

__all__ = ["export_coco"]


def export_coco(request: ExportRequest) -> list[Path]:
    """Write the detection annotations of all keyframes.

    Raises:
        DatasetError: the data set has no visibility details or masks.
    """
    with reading(request.root):
        return _export_coco(request)


def _export_coco(request: ExportRequest) -> list[Path]:
    source = open_source(request)
    target = request.out / f"instances_{source.split}.json"
    category_id = {row["name"]: row["index"] for row in source.categories.values()}
    images, annotations = target.with_suffix(".images"), target.with_suffix(".annotations")
    with TableWriter(images) as image_rows, TableWriter(annotations) as annotation_rows:
        for frame in source.keyframes():
            for view in frame.cameras:
                image_id = image_rows.row_count + 1
                image_rows.add(_image(frame, view, image_id))
                for row in _annotations(frame, view, request.root, category_id):
                    annotation_rows.add({"id": annotation_rows.row_count + 1, "image_id": image_id, **row})
        image_rows.keep()
        annotation_rows.keep()
    categories = [
        {"id": row["index"], "name": row["name"], "supercategory": row["name"].split(".")[0]}
        for row in source.categories.values()
    ]
    _join(target, images, annotations, categories)
    return [target]


def _image(frame: Keyframe, view: CameraView, image_id: int) -> JsonDict:
    width, height = view.size_px
    return {
        "id": image_id,
        "file_name": view.filename,
        "width": width,
        "height": height,
        "scene": frame.scene,
        "channel": view.channel,
        "sample_token": frame.token,
        "sample_data_token": view.token,
        "timestamp_us": frame.timestamp_us,
    }


def _annotations(frame: Keyframe, view: CameraView, root: Path, category_id: dict[str, int]) -> Iterator[JsonDict]:
    if "instance" not in view.layers:
        raise DatasetError(f"{view.filename}: has no instance mask; COCO's boxes are made from masks")
    ids, _ = codec.mask_ids_and_tags(root / view.layers["instance"])
    boxes = frame.boxes
    for row, name, instance_id, detail in zip(
        boxes.rows, boxes.category, boxes.instance_id.tolist(), boxes.details, strict=True
    ):
        for seen in detail["views"]:
            if seen["sample_data_token"] != view.token or seen["visible_box"] is None:
                continue
            x0, y0, x1, y1 = seen["visible_box"]
            inside = np.asarray(ids[y0:y1, x0:x1] == instance_id)
            ax0, ay0, ax1, ay1 = seen["amodal_box"]
            yield {
                "category_id": category_id[name],
                "bbox": [x0, y0, x1 - x0, y1 - y0],
                "area": seen["visible_px"],
                "iscrowd": 0,
                "segmentation": encode_rle(inside, at_px=(x0, y0), size_px=view.size_px),
                "amodal_bbox": [ax0, ay0, round(ax1 - ax0, 2), round(ay1 - ay0, 2)],
                "amodal_area": seen["amodal_px"],
                "occlusion": seen["occlusion"],
                "truncation": seen["truncation"],
                "instance_id": instance_id,
                "sample_annotation_token": row["token"],
            }


def _join(target: Path, images: Path, annotations: Path, categories: list[JsonDict]) -> None:
    """Put the two streamed arrays and the categories together into one file."""
    head = write_text(target.with_suffix(".categories"), json.dumps(categories))
    with whole_file(target) as file:
        for name, part in (("images", images), ("annotations", annotations), ("categories", head)):
            file.write(b"," if file.tell() else b"{")
            file.write(f'"{name}":'.encode())
            with part.open("rb") as text:
                while block := text.read(1 << 20):
                    file.write(block)
            part.unlink()
        file.write(b"}\n")
