"""A plan's records of intruders."""

from dataclasses import dataclass

from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan

__all__ = ["IntruderPlan", "IntrudersPlan", "intruders_of"]


@dataclass(frozen=True, slots=True, eq=False)
class IntruderPlan:
    """Something that flies into the swarm's way, on a path that was solved from how it is to pass.

    Attributes:
        kind: aeroplane, helicopter, drone, bird or flock; ``path`` and ``profile`` as in the encounters' YAML.
        name: AOT's id of it in its flight: ``Airplane1``.
        blueprint: what shows it.
        planned: AOT reports its range.
        drone_id: whom it passes, seen by camera ``camera``.
        map_SE3_flu: (K,) where it is at every step.
        begin_s: of the encounter, on the scene's clock; ``cpa_s`` the closest approach, likewise.
        range_m: at the begin, as ``closing_mps``, ``azimuth_deg`` and ``elevation_deg`` in the camera.
        cpa_m: how near it comes.
        collision_course: that is within the distance of a collision course.
        draws: requests that were drawn until one was possible; 1 where it was asked for.
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
    """The intruders of one scene, in the order in which they are spawned."""

    intruders: tuple[IntruderPlan, ...]


def intruders_of(plan: ScenePlan) -> tuple[IntruderPlan, ...]:
    """Return a scene's intruders; () where it has none."""
    planned = plan.of(IntrudersPlan)
    return () if planned is None else planned.intruders
