"""Kinds of intruders: sizes, how fast they fly, and AOT's names of them."""

from dataclasses import dataclass
from typing import Final, Literal

INTRUDER_ROLE: Final = "intruder"
"""The ``role_name`` that an intruder's actor has: by it a recording, a replay and the next client know what it is."""
IntruderName = Literal["aeroplane", "helicopter", "drone", "bird", "flock"]
PathName = Literal["rectilinear", "turning", "climbing", "overtaking", "non_cooperative"]


@dataclass(frozen=True, slots=True)
class IntruderKind:
    """One kind of intruder.

    Attributes:
        aot_name: begins its id in AOT's files.
        blueprint: of the simulator's library.
        size_lwh_m: length, width (its span), height.
        speed_mps: slowest and fastest, along the ground.
        climb_mps: fastest upwards and downwards.
        turn_dps: fastest turn, degrees a second.
        banks: it leans into its turns and points its nose along its path.
    """

    aot_name: str
    blueprint: str
    size_lwh_m: tuple[float, float, float]
    speed_mps: tuple[float, float]
    climb_mps: float
    turn_dps: float
    banks: bool


INTRUDERS: Final[dict[str, IntruderKind]] = {
    # A four-seater, a light helicopter, a survey drone, a buzzard and a flock of a dozen pigeons.
    "aeroplane": IntruderKind("Airplane", "static.prop.aeroplane", (8.3, 11.0, 2.7), (25.0, 90.0), 12.0, 8.0, True),
    "helicopter": IntruderKind(
        "Helicopter", "static.prop.helicopter", (11.0, 10.0, 3.3), (0.0, 75.0), 10.0, 15.0, False
    ),
    "drone": IntruderKind("Drone", "static.prop.drone", (1.2, 1.2, 0.5), (0.0, 30.0), 8.0, 60.0, False),
    "bird": IntruderKind("Bird", "static.prop.bird", (0.6, 1.3, 0.25), (3.0, 25.0), 5.0, 40.0, True),
    "flock": IntruderKind("Flock", "static.prop.flock", (9.0, 9.0, 4.0), (3.0, 25.0), 4.0, 20.0, False),
}
