"""COCO: 2D boxes and masks of visible pixels, from the instance masks, not from projected boxes.

One ``instances_<split>.json`` refers to the images in the dataset (``file_name`` is relative to its root).
Beside COCO's own fields an annotation has ``amodal_bbox`` (the projected box), ``occlusion``, ``truncation``, ``instance_id``
and the token of its 3D box. Category ids are nuScenes' indices.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from uavsim.access import Dataset, Image, Sample
from uavsim.dataset.tables import TableWriter
from uavsim.exports.formats.request import ExportRequest, exporter
from uavsim.exports.formats.rle import encode_rle
from uavsim.exports.formats.text import write_text
from uavsim.files.results import ResultPath
from uavsim.files.whole import whole_file
from uavsim.images.regions import ROAD_USER_TAGS
from uavsim.typing import JsonDict


@exporter
def export_coco(request: ExportRequest) -> list[Path]:
    """Write the detection annotations of all keyframes.

    Raises:
        DatasetError: the dataset has no visibility details or masks.
    """
    data = request.open_labelled()
    target = ResultPath.open(request.out) / f"instances_{request.split_name}.json"
    made: list[ResultPath] = []
    try:
        _write_parts(data, request, target, made)
        _join(target, made)
    finally:
        for part in made:
            part.remove()
    return [target.display_path]


def _write_parts(data: Dataset, request: ExportRequest, target: ResultPath, made: list[ResultPath]) -> None:
    """Write the parts of the JSON file, each into its own file, and append the written files to ``made``."""
    images, annotations = target.with_suffix(".images"), target.with_suffix(".annotations")
    with TableWriter(images) as image_rows, TableWriter(annotations) as annotation_rows:
        for sample in data.samples(request.split):
            for image in sample.images:
                image_id = image_rows.row_count + 1
                image_rows.add(_image(sample, image, image_id))
                for row in (*_annotations(sample, image, data.category_index), *_ignored(image, data.category_index)):
                    annotation_rows.add({"id": annotation_rows.row_count + 1, "image_id": image_id, **row})
        for rows, part in ((image_rows, images), (annotation_rows, annotations)):
            rows.keep()
            made.append(part)
    categories = [
        {"id": index, "name": name, "supercategory": name.split(".")[0]} for name, index in data.category_index.items()
    ]
    made.append(write_text(target.with_suffix(".categories"), json.dumps(categories)))


def _image(sample: Sample, image: Image, image_id: int) -> JsonDict:
    width, height = image.size_px
    return {
        "id": image_id,
        "file_name": image.filename,
        "width": width,
        "height": height,
        "scene": sample.scene_name,
        "channel": image.channel,
        "sample_token": sample.token,
        "sample_data_token": image.token,
        "timestamp_us": sample.timestamp_us,
    }


def _annotations(sample: Sample, image: Image, category_id: dict[str, int]) -> Iterator[JsonDict]:
    (ids, _), boxes = image.mask(), sample.boxes
    for token, name, instance_id, visibility, views in zip(
        boxes.tokens,
        boxes.categories,
        boxes.instance_id.tolist(),
        boxes.visibility.tolist(),
        boxes.views,
        strict=True,
    ):
        for view in views:
            if view["sample_data_token"] != image.token or view["visible_box"] is None:
                continue
            x0, y0, x1, y1 = view["visible_box"]
            inside = np.asarray(ids[y0:y1, x0:x1] == instance_id)
            ax0, ay0, ax1, ay1 = view["amodal_box"]
            yield {
                "category_id": category_id[name],
                "bbox": [x0, y0, x1 - x0, y1 - y0],
                "area": view["visible_px"],
                "iscrowd": 0,
                "segmentation": encode_rle(inside, at_px=(x0, y0), size_px=image.size_px),
                "amodal_bbox": [ax0, ay0, round(ax1 - ax0, 2), round(ay1 - ay0, 2)],
                "amodal_area": view["amodal_px"],
                "occlusion": view["occlusion"],
                "truncation": view["truncation"],
                "visibility": visibility,
                "instance_id": instance_id,
                "sample_annotation_token": token,
            }


def _ignored(image: Image, category_id: dict[str, int]) -> Iterator[JsonDict]:
    """Yield each region of road users without a box as a crowd of every road user category: no detection in it counts."""
    if not len(image.ignored_px):
        return
    ids, tags = image.mask()
    for x0, y0, x1, y1 in image.ignored_px.tolist():
        inside = np.isin(tags[y0:y1, x0:x1], ROAD_USER_TAGS) & (ids[y0:y1, x0:x1] == 0)
        row = {
            "bbox": [x0, y0, x1 - x0, y1 - y0],
            "area": int(inside.sum()),
            "iscrowd": 1,
            "segmentation": encode_rle(inside, at_px=(x0, y0), size_px=image.size_px),
        }
        yield from (
            {"category_id": index, **row}
            for name, index in category_id.items()
            if name.startswith(("human.", "vehicle."))
        )


def _join(target: ResultPath, parts: list[ResultPath]) -> None:
    """Join the two streamed arrays and the categories into one file."""
    with whole_file(target) as file:
        for part in parts:
            file.write(b"," if file.tell() else b"{")
            file.write(f'"{part.display_path.suffix[1:]}":'.encode())
            with part.open_to_read() as text:
                while block := text.read(1 << 20):
                    file.write(block)
        file.write(b"}\n")
