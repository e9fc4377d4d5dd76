"""Input for labelling one sample, as plain arrays that can be sent to another process."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.access import Boxes, Dataset, Image, Sample
from uavsim.errors import DatasetError, InputError
from uavsim.files.parse import reading
from uavsim.geometry.se3 import SE3
from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim_benchmarks.labels.twin_tables import TwinTables

CLASSES: Final = {
    "vehicle.car": "car",
    "vehicle.truck": "truck",
    "vehicle.bus.rigid": "bus",
    "vehicle.motorcycle": "motorcycle",
    "vehicle.bicycle": "bicycle",
    "human.pedestrian.adult": "pedestrian",
}
"""Class names of categories in labels; the default is the last part of the category."""

_NUMBERS: Final = itemgetter("visible_px", "amodal_px", "occlusion", "truncation")


@dataclass(frozen=True, slots=True, eq=False)
class SampleViews:
    """Visibility of N boxes in K images.

    Attributes:
        in_view: (K, N) the box reaches into the image.
        visible_px: (K, N) pixels of the object.
        amodal_px: (K, N) pixels without occluders.
        occlusion: (K, N) 1 - visible / amodal; 0 out of view.
        truncation: (K, N) share of the box outside of the image; 1 out of view.
        amodal_box_px: (K, N, 4) the projected box inside of the image; zeros out of view.
        away_m: (K, N) horizontal distance from the camera to the box.
    """

    in_view: BoolArray
    visible_px: IntArray
    amodal_px: IntArray
    occlusion: FloatArray
    truncation: FloatArray
    amodal_box_px: FloatArray
    away_m: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ImageJob:
    """One image of a sample.

    Attributes:
        token: token of its row in ``sample_data``.
        channel: CAMERA_FRONT_id_0.
        camera: FRONT; the images of one camera of all drones belong together.
        drone: number of the drone.
        size_px: width, height.
        intrinsic: (3, 3).
        map_SE3_optical: pose of the camera.
        name: file name in the dataset, of the degraded copy if there is one.
        file: path of the file; None if it does not exist.
        clean: clean copy of a degraded image, else None.
        mask: path of the mask, or None.
        lost: the image never arrived.
        twins: (name, file) of the same image in another weather.
        ignored_px: (K, 4) regions that show a road user without a box.
    """

    token: str
    channel: str
    camera: str
    drone: int
    size_px: tuple[int, int]
    intrinsic: FloatArray
    map_SE3_optical: SE3
    name: str
    file: Path | None
    clean: Path | None
    mask: Path | None
    lost: bool
    twins: tuple[tuple[str, Path], ...] = ()
    ignored_px: IntArray = field(default_factory=lambda: np.zeros((0, 4), np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class SampleJob:
    """One sample: K images, N boxes.

    Attributes:
        scene: name of the scene.
        number: number of the sample in the scene.
        token: token of the sample.
        timestamp_us: time of the sample.
        sun_up: by the recorded weather; None if unknown.
        images: K images.
        annotations: (N,) tokens of the boxes.
        instances: (N,) tokens of the objects.
        classes: (N,) car, truck and so on.
        instance_id: (N,) in the masks.
        map_SE3_box: (N,).
        half_m: (N, 3) half extents.
        views: visibility of the boxes in the images.
        causes: rows of ``occlusion_cause`` of this sample, by annotation and image.
    """

    scene: str
    number: int
    token: str
    timestamp_us: int
    sun_up: bool | None
    images: tuple[ImageJob, ...]
    annotations: tuple[str, ...]
    instances: tuple[str, ...]
    classes: tuple[str, ...]
    instance_id: IntArray
    map_SE3_box: SE3
    half_m: FloatArray
    views: SampleViews
    causes: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)


def jobs_of(data: Dataset, twins: TwinTables | None = None, *, pixels: bool = True) -> Iterator[SampleJob]:
    """Yield every sample of a dataset, in table order.

    Args:
        data: of ``uavsim.open``.
        twins: of ``uavsim twins``.
        pixels: locate the image files.

    Raises:
        InputError: the dataset has no table visibility_detail.
        DatasetError: a table is damaged.
    """
    for scene in data:
        with reading(f"{data.root}: scene {scene.name}"):
            samples = scene.samples
        for sample in samples:
            boxes = sample.boxes
            if len(boxes) and not scene.reports_views:
                raise InputError(f"{data.root}: table visibility_detail is missing; {_rebuild_hint(data.root)}")
            with reading(f"{data.root}: scene {scene.name}, sample {sample.number}"):
                job = _job(sample, scene.name, boxes, twins, pixels=pixels)
            yield job


def _rebuild_hint(root: Path) -> str:
    """Return the command that writes the missing table visibility_detail, if there is one."""
    if (root / ".uavsim" / "recordings").is_dir():
        return f"rebuild it from the recordings with uavsim annotate {root}"
    return "it cannot be rebuilt without the recordings of uavsim generate"


def _job(sample: Sample, scene: str, boxes: Boxes, twins: TwinTables | None, *, pixels: bool) -> SampleJob:
    height_deg = sample.weather.get("sun_altitude_angle")
    flu = SE3.stack([image.map_SE3_flu for image in sample.images])
    poses = flu @ SE3.stack([image.flu_SE3_optical for image in sample.images])
    images = tuple(_image(image, pose, twins, pixels=pixels) for image, pose in zip(sample.images, poses, strict=True))
    return SampleJob(
        scene=scene,
        number=sample.number,
        token=sample.token,
        timestamp_us=sample.timestamp_us,
        sun_up=None if height_deg is None else height_deg > 0,
        images=images,
        annotations=boxes.tokens,
        instances=boxes.instance_tokens,
        classes=tuple(CLASSES.get(name, name.rpartition(".")[2]) for name in boxes.categories),
        instance_id=boxes.instance_id,
        map_SE3_box=boxes.map_SE3_box,
        half_m=boxes.size_lwh_m / 2,
        views=views_of(boxes, images),
        causes={} if twins is None else twins.causes_of(boxes.tokens),
    )


def _image(image: Image, map_SE3_optical: SE3, twins: TwinTables | None, *, pixels: bool) -> ImageJob:
    degraded = image.layers.get("degraded")
    name = degraded or image.filename
    mask = image.layers.get("instance")

    def existing_file(filename: str | None) -> Path | None:
        try:
            return image.files.file(filename) if filename is not None else None
        except DatasetError:
            return None

    return ImageJob(
        token=image.token,
        channel=image.channel,
        camera=image.camera,
        drone=image.drone_id,
        size_px=(int(image.size_px[0]), int(image.size_px[1])),
        intrinsic=image.pinhole,
        map_SE3_optical=map_SE3_optical,
        name=name,
        file=existing_file(name) if pixels else None,
        clean=existing_file(image.filename) if pixels and degraded else None,
        mask=existing_file(mask) if pixels else None,
        lost=bool(image.reported.get("dropped", False)),
        twins=() if twins is None else twins.images_of(image.token),
        ignored_px=image.ignored_px,
    )


def views_of(boxes: Boxes, images: Sequence[ImageJob]) -> SampleViews:
    """Return the visibility of N boxes in K images, from the table ``visibility_detail``.

    Raises:
        ValueError: a number is not finite.
    """
    shape = (len(images), len(boxes))
    row_of = {image.token: row for row, image in enumerate(images)}
    found = [
        (row_of[view["sample_data_token"]], column, *_NUMBERS(view), *view["amodal_box"])
        for column, views in enumerate(boxes.views)
        for view in views
        if view["sample_data_token"] in row_of
    ]
    entries = np.array(found, dtype=np.float64).reshape(-1, 10)
    centre_m = boxes.map_SE3_box.translation_m.reshape(-1, 3)[:, :2]
    camera_m = np.array([image.map_SE3_optical.translation_m for image in images]).reshape(-1, 3)[:, :2]
    with np.errstate(over="ignore"):
        away_m = np.linalg.norm(camera_m[:, None] - centre_m[None], axis=-1)
    if not np.isfinite(away_m).all() or not np.isfinite(entries).all():
        raise ValueError("a box, a camera or a view has a number that is not finite")
    cells = (entries[:, 0].astype(np.int64), entries[:, 1].astype(np.int64))
    in_view = np.zeros(shape, dtype=np.bool_)
    in_view[cells] = True
    values = np.zeros((*shape, 8))
    values[..., 3] = 1.0  # out of view
    values[cells] = entries[:, 2:]
    visible_px, amodal_px, occlusion, truncation = np.moveaxis(values[..., :4], -1, 0).copy()
    return SampleViews(
        in_view=in_view,
        visible_px=visible_px.astype(np.int64),
        amodal_px=amodal_px.astype(np.int64),
        occlusion=occlusion,
        truncation=truncation,
        amodal_box_px=values[..., 4:].copy(),
        away_m=away_m,
    )
