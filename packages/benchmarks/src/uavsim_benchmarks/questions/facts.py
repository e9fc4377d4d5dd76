"""Facts of images from which questions are made."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.config.events import EventThresholds
from uavsim.geometry.se3 import SE3
from uavsim.images import codec
from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim_benchmarks.labels.jobs import ImageJob, SampleJob
from uavsim_benchmarks.labels.rows import LabelledSample, label_sample

COUNTED_PX: Final = 64
"""Visible pixels from which on an object counts, as questions state."""
DOUBTFUL_PX: Final = (12, 100)
"""Visible pixels of objects about which people disagree; no question depends on such an object."""
_SURFACE_MARGIN: Final = 1.3  # between the largest surface of an image and the next
_GROWN: Final = 1.6  # times an object's box, in which no other's middle lies, where it is asked for by its place
_GROWN_PX: Final = 12.0
_TWO_WHEELED: Final = ("bicycle", "motorcycle")  # hard to distinguish from above
_APART: Final = 25  # of 255, in one colour: difference of a pixel from its object's surroundings
_STANDS_OUT: Final = 0.3  # of an object's pixels, at least
_AROUND_PX: Final = 6
_GRAINS_IN_CONTRAST: Final = 3.3  # standard deviations between the 5th and the 95th percentile of noise alone

_SHORT_TRUCK_M: Final = 6.5  # long; shorter ones are cars or trucks, as one looks at it

_SURFACES: Final = {
    "road": (1, 24),
    "open ground": (2, 10, 25),
    "built-up": (3, 4, 5, 28),
    "plants": (9,),
    "water": (23,),
    "sky": (11,),
}
"""Semantic tags of CARLA by surface."""
_FAULTS: Final = {
    "dark": ("luminance", 65.0, 80.0),
    "bright": ("luminance", 190.0, 165.0),
    "flat": ("contrast", 75.0, 95.0),
    "noisy": ("noise_sigma", 8.0, 3.5),
    "blurred": ("blur_px", 1.5, 0.7),
}
"""Measure of a fault, the value from which on people find it, and the value beyond which none does."""


@dataclass(frozen=True, slots=True)
class ImageObject:
    """An object in an image.

    Attributes:
        instance: token of the object.
        kind: car, truck, bus, two-wheeler, pedestrian; "vehicle" for ambiguous ones.
        x_percent, y_percent: centre of its box in the image.
        visible_px: visible pixels.
        hidden: occluded share.
        cut: share outside of the image.
        alone: no other object is so near that its position is ambiguous.
        stands_out: its colours differ from those around it.
    """

    instance: str
    kind: str
    x_percent: int
    y_percent: int
    visible_px: int
    hidden: float = 0.0
    cut: float = 0.0
    alone: bool = True
    stands_out: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ImageFacts:
    """Facts of one image.

    Attributes:
        drone: number of the drone.
        filename: file name of the image.
        surface: most frequent surface; "" without a mask, or where it is ambiguous.
        objects: objects with a box that reaches into the image.
        faults: faults that some people may find.
        fault: the only fault, which all people find; "none" where all find none; "" in doubt.
        score: quality from 1 to 5.
        position_m: (3,) of the camera, map frame.
        heading: (2,) horizontal unit vector towards the upper side of the image, or along the view.
    """

    drone: int
    filename: str
    surface: str
    objects: tuple[ImageObject, ...]
    faults: frozenset[str]
    fault: str
    score: float
    position_m: FloatArray
    heading: FloatArray

    @property
    def is_clear(self) -> bool:
        """Whether people can see all objects in the image."""
        return self.faults <= {"flat"}

    def visible(self, *, walkers: bool) -> list[ImageObject]:
        """Return the visible pedestrians, or the visible vehicles."""
        return [obj for obj in self.objects if obj.visible_px and (obj.kind == "pedestrian") is walkers]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The images of one camera name on all drones in one sample, without lost ones."""

    scene: str
    sample: int
    camera: str
    views: tuple[ImageFacts, ...]

    @property
    def frame(self) -> str:
        """AirCopBench's name of the sequence frame."""
        return f"{self.scene}_{self.camera}_{self.sample}"


def groups_of(job: SampleJob, thresholds: EventThresholds) -> list[Group]:
    """Label a sample and return the facts of its images, grouped by camera."""
    labelled = label_sample(job, thresholds, tags=True)
    by_camera: dict[str, list[ImageFacts]] = {}
    for number, image in enumerate(job.images):
        if labelled.images[number].arrived and not _shows_unlabelled(image):
            by_camera.setdefault(image.camera, []).append(_view(labelled, number))
    return [Group(job.scene, job.number, camera, tuple(views)) for camera, views in by_camera.items()]


def _shows_unlabelled(image: ImageJob) -> bool:
    """Return whether the image shows a road user without a box, which makes every question ambiguous."""
    sides_px = image.ignored_px[:, 2:] - image.ignored_px[:, :2]
    return bool((sides_px.prod(axis=1) >= DOUBTFUL_PX[0]).any())


def _view(labelled: LabelledSample, number: int) -> ImageFacts:
    image, found = labelled.job.images[number], labelled.images[number]
    faults, fault = _faults(found.measured)
    return ImageFacts(
        drone=image.drone,
        filename=image.name,
        surface=_surface(found.tag_share),
        objects=_objects(labelled, number),
        faults=faults,
        fault=fault,
        score=found.quality.score,
        position_m=image.map_SE3_optical.translation_m,
        heading=_heading(image.map_SE3_optical),
    )


def _faults(measured: dict[str, float]) -> tuple[frozenset[str], str]:
    """Return the faults that some people find in an image, and the fault that all find."""
    sure, possible = set(), set()
    contrast, grains = measured["contrast"], _GRAINS_IN_CONTRAST * measured["noise_sigma"]
    measured = measured | {"contrast": float(np.sqrt(max(contrast**2 - grains**2, 0.0)))}
    for name, (measure, has_it, has_it_not) in _FAULTS.items():
        sign = 1.0 if has_it > has_it_not else -1.0
        if sign * measured[measure] >= sign * has_it:
            sure.add(name)
        if sign * measured[measure] >= sign * has_it_not:
            possible.add(name)
    if "dark" in sure:
        possible.discard("flat")  # dark images have little contrast
    if not possible:
        return frozenset(), "none"
    return frozenset(possible), next(iter(possible)) if len(possible) == 1 and possible <= sure else ""


def _objects(labelled: LabelledSample, number: int) -> tuple[ImageObject, ...]:
    job, views = labelled.job, labelled.job.views
    rows = np.flatnonzero(views.in_view[number])
    box_px = views.amodal_box_px[number, rows]
    middle = (box_px[:, :2] + box_px[:, 2:]) / 2
    percent = np.rint(100 * middle / job.images[number].size_px).astype(np.int64)
    alone = _alone(middle, box_px[:, 2:] - box_px[:, :2], views.visible_px[number, rows] >= DOUBTFUL_PX[0])
    stands_out = _stand_out(job, number, rows)
    return tuple(
        ImageObject(
            instance=job.instances[box],
            kind=_kind(job, box),
            x_percent=int(percent[row, 0]),
            y_percent=int(percent[row, 1]),
            visible_px=int(views.visible_px[number, box]),
            hidden=float(views.occlusion[number, box]),
            cut=float(views.truncation[number, box]),
            alone=bool(alone[row]),
            stands_out=bool(stands_out[row]),
        )
        for row, box in enumerate(rows.tolist())
    )


def _kind(job: SampleJob, box: int) -> str:
    if job.classes[box] == "truck" and 2 * job.half_m[box, 0] < _SHORT_TRUCK_M:
        return "vehicle"
    return "two-wheeler" if job.classes[box] in _TWO_WHEELED else job.classes[box]


def _alone(middle_px: FloatArray, size_px: FloatArray, visible: BoolArray) -> BoolArray:
    """Return (N,) bool: no visible object has its centre in the enlarged box."""
    away_px = np.abs(middle_px[:, None] - middle_px[None])
    reach_px = np.maximum(_GROWN * (size_px[:, None] + size_px[None]) / 4, _GROWN_PX)
    near = (away_px < reach_px).all(axis=-1) & visible[None]
    np.fill_diagonal(near, val=False)
    return np.asarray(~near.any(axis=1), dtype=np.bool_)


def _stand_out(job: SampleJob, number: int, rows: IntArray) -> BoolArray:
    """Return (N,) bool: the object's colours differ from the median of those around it; True without a mask."""
    image, stands_out = job.images[number], np.ones(len(rows), dtype=np.bool_)
    if image.mask is None or image.file is None:
        return stands_out
    rgb, ids = codec.decode_rgb(image.clean or image.file), codec.mask_ids_and_tags(image.mask)[0]
    boxes_px = job.views.amodal_box_px[number, rows]
    low = np.maximum(np.floor(boxes_px[:, :2]).astype(np.int64) - _AROUND_PX, 0)
    high = np.ceil(boxes_px[:, 2:]).astype(np.int64) + _AROUND_PX
    for row, box in enumerate(rows.tolist()):
        window = slice(low[row, 1], high[row, 1]), slice(low[row, 0], high[row, 0])
        own_mask, colours = ids[window] == job.instance_id[box], rgb[window].astype(np.int64)
        if own_mask.any() and not own_mask.all():
            apart = np.abs(colours[own_mask] - np.median(colours[~own_mask], axis=0)).max(axis=1) >= _APART
            stands_out[row] = apart.mean() >= _STANDS_OUT
    return stands_out


def _surface(tag_share: FloatArray) -> str:
    shares = {name: float(tag_share[list(tags)].sum()) for name, tags in _SURFACES.items()}
    (name, largest), (_, second) = sorted(shares.items(), key=lambda pair: -pair[1])[:2]
    return name if largest > _SURFACE_MARGIN * second else ""


def _heading(map_SE3_optical: SE3) -> FloatArray:
    """Return the (2,) horizontal direction of the upper side of a camera's image."""
    looks, up = map_SE3_optical.rotate(np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]))
    flat = looks[:2] if np.linalg.norm(looks[:2]) > np.linalg.norm(up[:2]) else up[:2]
    length = float(np.linalg.norm(flat))
    return np.asarray(flat / length if length else np.array([1.0, 0.0]), dtype=np.float64)
