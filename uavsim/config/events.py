"""Thresholds of ``uavsim events``, on measurements of images and objects.

Defaults were set so that median sizes agree with AirCopBench's annotators (docs/events.md); none is learned.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from uavsim.config.base import Model

__all__ = ["CollaborationLevels", "EventThresholds", "ObjectLevels", "QualityLevels"]

Share = Annotated[float, Field(ge=0, le=1)]
Grey = Annotated[float, Field(ge=0, le=255)]
Four = tuple[
    Annotated[float, Field(ge=0)],
    Annotated[float, Field(ge=0)],
    Annotated[float, Field(ge=0)],
    Annotated[float, Field(ge=0)],
]
"""Borders between the levels 5 | 4 | 3 | 2 | 1, in this order."""


class QualityLevels(Model):
    """Borders between quality 5 | 4 | 3 | 2 | 1 for each measure; an image has the level of its worst measure."""

    noise_sigma: Four = (2.5, 6.0, 12.0, 24.0)
    """Standard deviation of the noise in flat places, grey levels."""
    blur_px: Four = (1.0, 1.6, 2.4, 4.0)
    """Standard deviation of the blur at the sharpest edges, pixels."""
    contrast: Four = (75.0, 50.0, 32.0, 16.0)
    """Grey levels between the darkest and the brightest twentieth; less is worse."""
    dark: Four = (65.0, 45.0, 30.0, 15.0)
    """Mean grey level; less is worse."""
    bright: Four = (190.0, 210.0, 225.0, 240.0)
    """Mean grey level; more is worse."""
    clipped_share: Four = (0.15, 0.3, 0.5, 0.75)
    """Share of pixels that are black or white."""
    psnr_db: Four = (38.0, 30.0, 24.0, 18.0)
    """PSNR of a degraded image against its clean one; less is worse."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        for name in type(self).model_fields:
            borders = getattr(self, name)
            worse_is_less = name in FALLING
            if list(borders) != sorted(set(borders), reverse=worse_is_less):
                raise ValueError(f"{name}: thresholds must {'fall' if worse_is_less else 'rise'} from best to worst")
        return self


FALLING = frozenset({"contrast", "dark", "psnr_db"})
"""Measures for which less is worse."""


class ObjectLevels(Model):
    """Levels from which an object is hard to perceive."""

    seen_px: Annotated[int, Field(ge=1, le=100_000)] = 12
    """An object with fewer visible pixels is not seen."""
    occluded_share: Share = 0.3
    """Hidden share beyond which an object is occluded."""
    least_amodal_px: Annotated[int, Field(ge=1, le=100_000)] = 40
    """An object that would have fewer pixels with nothing in front is too small to be called occluded."""
    named_share: Share = 0.5
    """An actor that covers more than this share of the hidden part is named as occluder."""
    small_share: Annotated[float, Field(ge=0, le=0.1)] = 2e-4
    """Share of the image under which an object's box is too small."""
    cut_share: Share = 0.3
    """Share outside the image beyond which an object is out of view."""
    shade: Share = 0.6
    """Ground darker than this share of the same kind of ground in the sun lies in shadow."""
    shaded_share: Share = 0.75
    """Share of shadowed ground around an object beyond which it is under shadow."""
    usable_share: Share = 0.1
    """An image in which less of the objects in view can be perceived is not usable."""


class CollaborationLevels(Model):
    """Levels from which an image of another drone helps."""

    range_m: Annotated[float, Field(gt=0, le=100_000)] = 80.0
    """Horizontal distance within which a drone should know of an object."""
    gain_ratio: Annotated[float, Field(ge=1, le=1000)] = 1.5
    """A partner sees an object better with this many times the drone's own pixels."""
    least_share: Share = 0.1
    """Least share of a drone's objects that a partner must see better to be asked at all."""
    tie_share: Share = 0.1
    """Partners whose gain is within this of the best one are named together."""


class EventThresholds(Model):
    """Thresholds of labels by rule; omitted keys have uavsim's defaults."""

    quality: QualityLevels = QualityLevels()
    objects: ObjectLevels = ObjectLevels()
    collaboration: CollaborationLevels = CollaborationLevels()
