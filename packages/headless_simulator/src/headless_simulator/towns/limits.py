"""Limits of an OpenDRIVE file's size: small for clients' texts, large for the operator's files."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """Size limits of one source.

    Attributes:
        elements: XML elements.
        roads, signals, objects: elements of the network.
        road_m: total length of all roads.
        stations: stations at which lane borders are evaluated.
        side_m, area_m2: extent of the lanes.
        cpu_s, memory_bytes: resources of the process that builds the town.
    """

    elements: int
    roads: int
    signals: int
    objects: int
    road_m: float
    stations: int
    side_m: float
    area_m2: float
    cpu_s: int
    memory_bytes: int


CLIENT: Final = Limits(
    elements=500_000,
    roads=20_000,
    signals=5_000,
    objects=50_000,
    road_m=150_000.0,
    stations=6_000_000,
    side_m=15_000.0,
    area_m2=60e6,
    cpu_s=300,
    memory_bytes=8 << 30,
)
OPERATOR: Final = Limits(
    elements=20_000_000,
    roads=200_000,
    signals=100_000,
    objects=1_000_000,
    road_m=3_000_000.0,
    stations=100_000_000,
    side_m=50_000.0,
    area_m2=1000e6,
    cpu_s=3600,
    memory_bytes=32 << 30,
)
