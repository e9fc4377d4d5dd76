"""Kinds of intruders (sizes, speeds, AOT's names of them), and a plan's records of intruders."""

from dataclasses import dataclass
from typing import Final, Literal

from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan

INTRUDER_ROLE: Final = "intruder"
"""``role_name`` of an intruder's actor, by which recordings, replays and later clients recognise it."""
IntruderName = Literal["aeroplane", "helicopter", "drone", "bird", "flock"]
PathName = Literal["rectilinear", "turning", "climbing", "overtaking", "non_cooperative"]


@dataclass(frozen=True, slots=True)
class IntruderKind:
    """One kind of intruder.

    Attributes:
        aot_name: prefix of its id in AOT's files.
        blueprint: blueprint in the simulator's library.
        size_lwh_m: length, width (wing span), height.
        speed_mps: least and greatest speed along the ground.
        climb_mps: greatest vertical speed, up or down.
        turn_dps: greatest turn rate, degrees per second.
        banks: whether it banks in turns and points its nose along its path.
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


@dataclass(frozen=True, slots=True, eq=False)
class IntruderPlan:
    """An intruder, on a path solved from the requested encounter.

    Attributes:
        kind: aeroplane, helicopter, drone, bird or flock; ``path`` and ``profile`` as in the encounters' YAML.
        name: AOT's id in the flight: ``Airplane1``.
        blueprint: blueprint of its actor.
        planned: whether AOT reports its range.
        drone_id: drone that it passes, with the camera ``camera``.
        map_SE3_flu: (K,) poses at every step.
        begin_s: scene time of the encounter's begin; ``cpa_s`` is that of the closest approach.
        range_m: range at the start, as ``closing_mps``, and ``azimuth_deg`` and ``elevation_deg`` in the camera.
        cpa_m: distance at the closest approach.
        collision_course: whether ``cpa_m`` is within the distance of a collision course.
        draws: number of drawn requests until one was possible; 1 for explicit encounters.
    """

    kind: str
    path: str
    profile: str
    name: str
    blueprint: str
    size_lwh_m: tuple[float, float, float]
    planned: bool
    drone_id: int
    camera: str
    map_SE3_flu: SE3
    begin_s: float
    cpa_s: float
    range_m: float
    closing_mps: float
    azimuth_deg: float
    elevation_deg: float
    cpa_m: float
    collision_course: bool
    draws: int = 1


@dataclass(frozen=True, slots=True)
class IntrudersPlan:
    """The intruders of one scene, in spawn order."""

    intruders: tuple[IntruderPlan, ...]


def intruders_of(plan: ScenePlan) -> tuple[IntruderPlan, ...]:
    """Return a scene's intruders; () without any."""
    planned = plan.of(IntrudersPlan)
    return () if planned is None else planned.intruders
