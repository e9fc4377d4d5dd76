"""Parquet files with one row per camera image of a sample: image and mask embedded, boxes as a nested column.

The schema carries the features of the ``datasets`` library, so that ``datasets.load_dataset`` and the Hub's viewer need no
loading script. Image bytes are copied from the dataset.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from uavsim.access import Image, Sample
from uavsim.access.box_selection import visible_boxes
from uavsim.files.results import ResultPath
from uavsim.files.whole import ANOTHER_OUT, storage_errors, whole_file
from uavsim.images import codec
from uavsim.typing import JsonDict

_ROWS_PER_GROUP: Final = 100  # one read of the Hub's viewer
_GROUP_BYTES: Final = 128 << 20  # the Hub's viewer refuses groups of 286 MiB and more
_SHARD_BYTES: Final = 400 << 20

_IMAGE: Final = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_VECTOR: Final = pa.list_(pa.float64())
BOX_FIELDS: Final[Mapping[str, tuple[Any, str]]] = {
    "instance": (pa.string(), "token of the object: the same in all samples of its scene"),
    "instance_id": (pa.int64(), "number of the object in the mask; 0 if unknown"),
    "category": (pa.string(), "class"),
    "center_m": (_VECTOR, "box centre in the map frame, metres"),
    "size_lwh_m": (_VECTOR, "length, width, height, metres"),
    "rotation_wxyz": (_VECTOR, "map from box, scalar first"),
    "velocity_mps": (_VECTOR, "in the map frame; NaN if unknown"),
    "visible_px": (pa.int64(), "pixels of the object in this image; -1 if unknown"),
    "occlusion": (
        pa.float64(),
        "share of the object that is hidden in this image; NaN if unknown",
    ),
    "box_px": (_VECTOR, "x_min, y_min, x_max, y_max of the visible pixels in this image; empty where there are none"),
}
"""Columns of ``objects``: Arrow type and meaning."""
FIELDS: Final[Mapping[str, tuple[Any, str]]] = {
    "image": (_IMAGE, "the image"),
    "mask": (_IMAGE, "instance mask: R is the semantic tag, G + 256 B the instance id; null where there is none"),
    "scene": (pa.string(), "name of the scene"),
    "sample": (pa.string(), "token of the sample: all images of one point in time have it"),
    "sample_number": (pa.int64(), "number of the sample in its scene"),
    "timestamp_us": (pa.int64(), "microseconds"),
    "town": (pa.string(), "name of the town"),
    "weather": (pa.string(), "name of the weather"),
    "channel": (pa.string(), "sensor and drone"),
    "drone_id": (pa.int64(), "drone"),
    "width_px": (pa.int64(), "width of the image"),
    "height_px": (pa.int64(), "height of the image"),
    "intrinsic": (pa.list_(_VECTOR), "3 x 3, pixels"),
    "camera_center_m": (_VECTOR, "in the map frame, metres"),
    "camera_rotation_wxyz": (_VECTOR, "map from optical (x right, y down, z forward), scalar first"),
    "drone_center_m": (_VECTOR, "in the map frame, metres"),
    "drone_rotation_wxyz": (_VECTOR, "map from body (x forward, y left, z up), scalar first"),
    "objects": (pa.list_(pa.struct([(name, kind) for name, (kind, _) in BOX_FIELDS.items()])), "boxes in this image"),
}
"""Columns: Arrow type and meaning."""


def rows_of(sample: Sample, *, log: Mapping[str, Any]) -> Iterator[JsonDict]:
    """Yield one row for each existing camera image of a sample."""
    for image in sample.images:
        if image.exists:
            yield _row(sample, image, log)


def _row(sample: Sample, image: Image, log: Mapping[str, Any]) -> JsonDict:
    drone, camera = image.map_SE3_flu, image.map_SE3_optical
    codec.image_size(image.files.file(image.filename))  # refuses a file that is not an image
    return {
        "image": {"bytes": image.bytes(), "path": Path(image.filename).name},
        "mask": _mask(image),
        "scene": sample.scene_name,
        "sample": sample.token,
        "sample_number": sample.number,
        "timestamp_us": image.timestamp_us,
        "town": str(log.get("location", "")),
        "weather": str(log.get("uav_weather", "")),
        "channel": image.channel,
        "drone_id": image.drone_id,
        "width_px": image.size_px[0],
        "height_px": image.size_px[1],
        "intrinsic": image.pinhole.tolist(),
        "camera_center_m": camera.translation_m.tolist(),
        "camera_rotation_wxyz": camera.quat_wxyz.tolist(),
        "drone_center_m": drone.translation_m.tolist(),
        "drone_rotation_wxyz": drone.quat_wxyz.tolist(),
        "objects": _objects(sample, image),
    }


def _mask(image: Image) -> JsonDict | None:
    name = image.layers.get("instance")
    if name is None:
        return None
    return {"bytes": image.files.read(name), "path": Path(name).name}


def _objects(sample: Sample, image: Image) -> list[JsonDict]:
    boxes, rows = sample.boxes, []
    for n in visible_boxes(boxes, image).tolist():
        view: JsonDict = next((v for v in boxes.views[n] if v["sample_data_token"] == image.token), {})
        rows.append(
            {
                "instance": boxes.instance_tokens[n],
                "instance_id": int(boxes.instance_id[n]),
                "category": boxes.categories[n],
                "center_m": boxes.map_SE3_box.translation_m[n].tolist(),
                "size_lwh_m": boxes.size_lwh_m[n].tolist(),
                "rotation_wxyz": boxes.map_SE3_box.quat_wxyz[n].tolist(),
                "velocity_mps": boxes.velocity_map_mps[n].tolist(),
                "visible_px": int(view.get("visible_px", -1)),
                "occlusion": float(view.get("occlusion", float("nan"))),
                "box_px": [float(v) for v in view.get("visible_box") or ()],
            }
        )
    return rows


class ParquetShards:
    """A writer of ``<split>-00000.parquet``, ... of one split; it begins a new shard at 400 MiB of images."""

    def __init__(self, folder: ResultPath, split: str) -> None:
        self._folder, self._split = folder, split
        self._schema = pa.schema([(name, kind) for name, (kind, _) in FIELDS.items()], metadata=_features())
        self._writer: Any = None
        self._file = ExitStack()
        self._pending: list[JsonDict] = []
        self._bytes = self._group_bytes = 0
        self.paths: list[ResultPath] = []
        self.row_count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:  # removes the temporary file after any error
            if kind is None:
                self._flush()
                self._close()
            else:
                if self._writer is not None:
                    with suppress(OSError):  # report the first error, not this one
                        self._writer.close()
                self._file.__exit__(kind, error, trace)

    def add(self, row: JsonDict) -> None:
        """Append a row.

        Raises:
            StorageError: the file cannot be written.
        """
        self._pending.append(row)
        self.row_count += 1
        size = len(row["image"]["bytes"]) + len((row["mask"] or {"bytes": b""})["bytes"])
        self._bytes, self._group_bytes = self._bytes + size, self._group_bytes + size
        if len(self._pending) >= _ROWS_PER_GROUP or self._group_bytes > _GROUP_BYTES:
            self._flush()
        if self._bytes > _SHARD_BYTES:
            self._flush()
            self._close()

    def _flush(self) -> None:
        if not self._pending:
            return
        with self._errors():
            if self._writer is None:
                path = self._folder / f"{self._split}-{len(self.paths):05d}.parquet"
                self.paths.append(path)
                file = self._file.enter_context(whole_file(path, again=ANOTHER_OUT))
                self._writer = pq.ParquetWriter(file, self._schema, compression="zstd", write_page_index=True)
            self._writer.write_table(pa.Table.from_pylist(self._pending, schema=self._schema))
        self._pending, self._group_bytes = [], 0

    def _close(self) -> None:
        if self._writer is not None:
            with self._errors(), self._file:
                self._writer.close()
        self._writer, self._bytes = None, 0

    def _errors(self) -> AbstractContextManager[None]:
        return storage_errors(f"write {self._folder}", again=ANOTHER_OUT)


def _features() -> dict[bytes, bytes]:
    """Return the schema metadata with the column features of the ``datasets`` library."""
    features = {name: _feature(kind) for name, (kind, _) in FIELDS.items()}
    return {b"huggingface": json.dumps({"info": {"features": features}}).encode()}


def element_of(kind: Any) -> tuple[str, int]:
    """Return the element type of a column and its list depth."""
    depth = 0
    while pa.types.is_list(kind):
        kind, depth = kind.value_type, depth + 1
    return str(kind), depth


def _feature(kind: Any) -> Any:
    if kind == _IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {kind.field(n).name: _feature(kind.field(n).type) for n in range(kind.num_fields)}
    return {"dtype": "float64" if pa.types.is_float64(kind) else str(kind), "_type": "Value"}
