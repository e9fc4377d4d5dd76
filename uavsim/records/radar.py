"""The parameters of a radar."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class RadarParams:
    """A radar; each tick is one measurement.

    Attributes:
        points_per_second: rays that it sends.
        horizontal_fov_deg: of its cone; ``vertical_fov_deg`` likewise.
        noise_seed: draws the rays' directions.
    """

    prefix: ClassVar[str] = "RADAR"
    is_optical: ClassVar[bool] = False

    range_m: float
    points_per_second: int
    horizontal_fov_deg: float
    vertical_fov_deg: float
    noise_seed: int
