"""Facts that questions are made from: a few of each image, taken from its labels where its pixels are in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.config.events import EventThresholds
from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray, IntArray
from uavsim_benchmarks.labels.causes import CAUSES, primary
from uavsim_benchmarks.labels.jobs import ImageJob, SampleJob
from uavsim_benchmarks.labels.rows import LabelledSample, label_sample

__all__ = ["COUNTED_PX", "Group", "ObjectSeen", "View", "groups_of"]

COUNTED_PX: Final = 64
"""Visible pixels from which on an object counts; questions say so."""
_DOUBTFUL_PX: Final = (32, 96)
"""With an object of a kind between these, people count that kind differently, and no question counts it."""
_SURFACE_MARGIN: Final = 1.3  # between the largest surface of an image and the next

_SURFACES: Final = {
    "road": (1, 24),
    "pavement": (2,),
    "built-up": (3, 4, 5, 28),
    "green": (9, 10),
    "bare ground": (25,),
    "water": (23,),
    "sky": (11,),
}
"""Semantic tags of CARLA that make up most of an image."""
_WHOLE: Final = 0.1  # of an object hidden or cut off, at most, where it is asked for by its place


@dataclass(frozen=True, slots=True)
class ObjectSeen:
    """An object that an image shows nearly whole: the middle of its box in percent of the image."""

    instance: str
    kind: str
    x_percent: int
    y_percent: int
    visible_px: int


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One image, as far as questions ask for it.

    Attributes:
        drone: its number.
        filename: of the image.
        surface: what most of it shows; "" where there is no mask, or two are near each other.
        counts: objects by class that nobody overlooks.
        sizes_px: visible pixels of all objects of a class, cut off and half hidden ones too, the largest first.
        doubtful: classes with an object that some count and some do not.
        seen: instances that it shows.
        objects: those that it shows nearly whole.
        quality: 1 to 5.
        score: the same between the steps.
        in_view, perceived: objects that reach into it, and those that nothing hinders.
        hindrances: causes by how many objects they hinder, most first, with the counts.
        concerned: objects near enough to matter.
        gained: of them, those that another drone sees better.
        best: the drone that adds most; -1 where none does, or two do.
        partners: drones that were compared.
        what: classes of the objects that the best drone adds.
        why: for each other drone, primary causes of what it adds, most first, with the counts.
        place_m: (3,) of the camera, map frame.
        heading: (2,) horizontal unit vector to the image's upper side, or where the camera looks.
    """

    drone: int
    filename: str
    surface: str
    counts: dict[str, int]
    sizes_px: dict[str, list[int]]
    doubtful: frozenset[str]
    seen: frozenset[str]
    objects: tuple[ObjectSeen, ...]
    quality: int
    score: float
    in_view: int
    perceived: int
    hindrances: tuple[tuple[str, int], ...]
    concerned: int
    gained: int
    best: int
    partners: tuple[int, ...]
    what: dict[str, int]
    why: dict[int, tuple[tuple[str, int], ...]]
    place_m: FloatArray
    heading: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The images that one camera of all drones took at one time; what was lost is left out."""

    scene: str
    sample: int
    camera: str
    views: tuple[View, ...]

    @property
    def frame(self) -> str:
        """Return what AirCopBench calls the sequence frame."""
        return f"{self.scene}_{self.camera}_{self.sample}"


def groups_of(job: SampleJob, thresholds: EventThresholds) -> list[Group]:
    """Label a sample, and return the facts of its images, by camera."""
    labelled = label_sample(job, thresholds, tags=True)
    by_camera: dict[str, list[View]] = {}
    for number, image in enumerate(job.images):
        if labelled.images[number].there and not _shows_unlabelled(image):
            by_camera.setdefault(image.camera, []).append(_view(labelled, number, thresholds))
    return [Group(job.scene, job.number, camera, tuple(views)) for camera, views in by_camera.items()]


def _shows_unlabelled(image: ImageJob) -> bool:
    """Return whether people see a road user that no table knows: no question about such an image has a sure key."""
    sides_px = image.ignored_px[:, 2:] - image.ignored_px[:, :2]
    return bool((sides_px.prod(axis=1) >= _DOUBTFUL_PX[0]).any())


def _view(labelled: LabelledSample, number: int, thresholds: EventThresholds) -> View:
    job, views, found = labelled.job, labelled.job.views, labelled.images[number]
    image, help_ = job.images[number], labelled.helps[number]
    shown_px = views.visible_px[number]
    seen = shown_px >= thresholds.objects.seen_px
    known = (views.visible_px >= thresholds.objects.seen_px).any(axis=0)
    counts = labelled.causes[number][help_.concerned].sum(axis=0)
    gains = {
        job.images[p].drone: gained for p, gained in zip(help_.partners.tolist(), help_.gained, strict=True)
    }  # drone -> (N,)
    return View(
        drone=image.drone,
        filename=image.name,
        surface=_surface(found.tag_share),
        counts=dict(Counter(job.classes[n] for n in np.flatnonzero(shown_px >= COUNTED_PX))),
        sizes_px=_sizes(job.classes, shown_px),
        doubtful=frozenset(
            job.classes[n] for n in np.flatnonzero((shown_px >= _DOUBTFUL_PX[0]) & (shown_px < _DOUBTFUL_PX[1]))
        ),
        seen=frozenset(job.instances[n] for n in np.flatnonzero(seen)),
        objects=_whole_objects(labelled, number, thresholds),
        quality=found.quality.level,
        score=found.quality.score,
        in_view=int((views.in_view[number] & known).sum()),
        perceived=int(labelled.perceived(number, thresholds).sum()),
        hindrances=_ranked({CAUSES[c]: int(counts[c]) for c in range(len(CAUSES))}),
        concerned=int(help_.concerned.sum()),
        gained=int(help_.gained.any(axis=0).sum()),
        best=job.images[help_.who[0]].drone if len(help_.who) == 1 else -1,
        partners=tuple(gains),
        what=dict(Counter(job.classes[n] for n in help_.what)),
        why={drone: _reasons(labelled, number, np.flatnonzero(gained)) for drone, gained in gains.items()},
        place_m=image.map_SE3_optical.translation_m,
        heading=_heading(image.map_SE3_optical),
    )


def _sizes(classes: tuple[str, ...], shown_px: IntArray) -> dict[str, list[int]]:
    sizes: dict[str, list[int]] = {}
    for n in np.argsort(-shown_px, kind="stable").tolist():
        if shown_px[n]:
            sizes.setdefault(classes[n], []).append(int(shown_px[n]))
    return sizes


def _whole_objects(labelled: LabelledSample, number: int, thresholds: EventThresholds) -> tuple[ObjectSeen, ...]:
    job, views = labelled.job, labelled.job.views
    width, height = job.images[number].size_px
    whole = (views.occlusion[number] <= _WHOLE) & (views.truncation[number] <= _WHOLE)
    whole &= views.visible_px[number] >= max(thresholds.objects.least_amodal_px, COUNTED_PX)
    found = []
    for n in np.flatnonzero(whole):
        x0, y0, x1, y1 = views.amodal_box_px[number, n]
        x, y = round(50 * (x0 + x1) / width), round(50 * (y0 + y1) / height)
        found.append(ObjectSeen(job.instances[n], job.classes[n], x, y, int(views.visible_px[number, n])))
    return tuple(found)


def _surface(tag_share: FloatArray) -> str:
    shares = {name: float(tag_share[list(tags)].sum()) for name, tags in _SURFACES.items()}
    (name, most), (_, second) = sorted(shares.items(), key=lambda pair: -pair[1])[:2]
    return name if most > _SURFACE_MARGIN * second else ""


def _reasons(labelled: LabelledSample, number: int, rows: IntArray) -> tuple[tuple[str, int], ...]:
    first = primary(labelled.causes[number][rows])
    return _ranked(Counter(CAUSES[cause] for cause in first if cause >= 0))


def _ranked(counts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(((name, n) for name, n in counts.items() if n), key=lambda pair: (-pair[1], pair[0])))


def _heading(map_SE3_optical: SE3) -> FloatArray:
    """Return where the upper side of a camera's image points to over the ground."""
    looks, up = map_SE3_optical.rotate(np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]))
    flat = looks[:2] if np.linalg.norm(looks[:2]) > np.linalg.norm(up[:2]) else up[:2]
    length = float(np.linalg.norm(flat))
    return np.asarray(flat / length if length else np.array([1.0, 0.0]), dtype=np.float64)
