"""Collaboration labels of each image: partner drones, gained objects and causes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uavsim.config.events import EventThresholds
from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim_benchmarks.labels.causes import CAUSES, primary
from uavsim_benchmarks.labels.jobs import SampleJob

_HIDES_A_PARTNER = ("image_loss", "out_of_view", "occluded")
"""Causes that rule a drone out as a partner for an object."""


@dataclass(frozen=True, slots=True, eq=False)
class Help:
    """The gain of one image from images of the same camera on other drones.

    Attributes:
        partners: (P,) numbers of the other images in the sample.
        concerned: (N,) objects in range that an image of the group sees.
        gained: (P, N) objects that this image perceives badly and a partner perceives better.
        gain_px: (P,) additional pixels of those objects.
        who: numbers of the images to ask, best first; () where no partner helps enough.
        why: primary causes of the gained objects, most frequent first.
        when: whether to ask at all.
    """

    partners: IntArray
    concerned: BoolArray
    gained: BoolArray
    gain_px: FloatArray
    who: tuple[int, ...]
    why: tuple[str, ...]
    when: bool

    @property
    def what(self) -> IntArray:
        """(M,) rows of the objects that the partners in ``who`` add."""
        return np.flatnonzero(self.gained[_named(self.partners, self.who)].any(axis=0))


def help_of_image(job: SampleJob, number: int, causes: BoolArray, thresholds: EventThresholds) -> Help:
    """Compare an image with the images of the same camera on other drones.

    Args:
        job: the sample.
        number: number of the image.
        causes: (K, N, 8) of ``causes_of``.
        thresholds: ``collaboration``.
    """
    views, limits = job.views, thresholds.collaboration
    image = job.images[number]
    partners = np.array(
        [k for k, other in enumerate(job.images) if other.camera == image.camera and other.drone != image.drone],
        dtype=np.int64,
    )
    hidden = np.asarray(causes[..., [CAUSES.index(name) for name in _HIDES_A_PARTNER]].any(axis=-1))
    visible = np.asarray(views.visible_px >= thresholds.objects.seen_px)
    group = np.append(partners, number)
    concerned = (visible & ~causes[..., 0])[group].any(axis=0) & (views.away_m[number] <= limits.range_m)
    hindered = causes[number].any(axis=-1) & concerned
    own_px = np.where(causes[number, :, 0], 0, views.visible_px[number])
    enough_px = np.maximum(thresholds.objects.seen_px, limits.gain_ratio * own_px)
    gained = hindered[None] & ~hidden[partners] & (views.visible_px[partners] >= enough_px[None])
    gain_px = (np.where(gained, views.visible_px[partners] - own_px[None], 0)).sum(axis=1).astype(np.float64)
    count = gained.sum(axis=1)
    best = int(count.max(initial=0))
    when = bool(best > 0 and best >= limits.least_share * concerned.sum())
    order = np.lexsort((partners, -gain_px, -count))
    who = tuple(int(partners[p]) for p in order if when and count[p] >= (1 - limits.tie_share) * best)
    why = _reasons(causes[number], gained[_named(partners, who)].any(axis=0))
    return Help(partners, concerned, gained, gain_px, who, why, when)


def _named(partners: IntArray, who: Sequence[int]) -> BoolArray:
    """Return (P,) bool: the partner is in ``who``."""
    return np.array([partner in who for partner in partners.tolist()], dtype=np.bool_)


def _reasons(causes: BoolArray, gained: BoolArray) -> tuple[str, ...]:
    first = primary(causes[gained])
    counts = np.bincount(first[first >= 0], minlength=len(CAUSES))
    return tuple(CAUSES[cause] for cause in np.argsort(-counts, kind="stable") if counts[cause])
