"""The parameters of a radar."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class RadarParams:
    """A radar; each tick is one measurement.

    Attributes:
        points_per_second: rays per second.
        horizontal_fov_deg, vertical_fov_deg: field of view.
        noise_seed: seed of the rays' directions.
    """

    prefix: ClassVar[str] = "RADAR"
    is_optical: ClassVar[bool] = False

    range_m: float
    points_per_second: int
    horizontal_fov_deg: float
    vertical_fov_deg: float
    noise_seed: int
