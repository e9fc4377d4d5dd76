"""Planned corner cases of a scene: their parts, rules for places, and tags.

A case is an object that ordinary traffic never shows. It has one or several parts; each part is an actor of the simulator. The
plan holds the parts and the rule for the place; the place itself is found with the same seed when the scene is populated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

import numpy as np

from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray

__all__ = [
    "COVERED_SHARE",
    "LIGHTS",
    "ROLE",
    "SITE_REACH_M",
    "CasePart",
    "CornerCasePlan",
    "CornerCasesPlan",
    "Facing",
    "Ground",
    "Light",
    "Site",
    "TagWords",
    "own_parts",
    "part_of_role",
    "part_poses",
    "parts_outline_m",
    "role_of_part",
]

Ground: TypeAlias = Literal["lane", "shoulder", "sidewalk"]
"""Ground for a case: the middle of a driving lane, the strip right of the last one, or the pavement."""
Site: TypeAlias = Literal["crossing", "junction"]
"""Features of the town's map that a case may stand at; other cases stand between junctions."""
SITE_REACH_M: Final = 5.0
"""Greatest distance of a case's middle from such a site; it includes the pavement at a crossing's end."""
Facing: TypeAlias = Literal["along", "across", "any"]
"""Heading of a case: along the lane, across it, or random."""
Light: TypeAlias = Literal["hazard", "low_beam", "high_beam", "brake", "position", "reverse"]
LIGHTS: Final[tuple[Light, ...]] = get_args(Light)
COVERED_SHARE: Final = 0.25
"""Least share of its projected box that any object covers: a wire shopping cart covers a quarter."""
ROLE: Final = "corner_case"
"""First word of the ``role_name`` of corner case actors."""


@dataclass(frozen=True, slots=True)
class CasePart:
    """One actor of a case.

    Attributes:
        blueprint: CARLA's id.
        tag: tag of the object to which the part belongs.
        at_m: (x, y, z) position of the actor's origin in the case's flu frame, with the origin on the ground.
        rpy_deg: CARLA's (roll, pitch, yaw), degrees.
        half_extent_m: (x, y, z) expected half extent, metres.
        attributes: attributes of the blueprint: colour, path of the mesh.
        lights: lights of a vehicle that are on.
        doors_open: whether all doors of a vehicle are open.
    """

    blueprint: str
    tag: str
    at_m: tuple[float, float, float]
    rpy_deg: tuple[float, float, float]
    half_extent_m: tuple[float, float, float]
    attributes: dict[str, str] = field(default_factory=dict)
    lights: tuple[Light, ...] = ()
    doors_open: bool = False


@dataclass(frozen=True, slots=True)
class CornerCasePlan:
    """One case: its parts, and the rule for its place.

    Attributes:
        name: name in the file of cases.
        tag: tag of the main object.
        clearance_m: distance from the outline of the case to the next object.
        min_visible_px: least visible pixels of the main object in at least one keyframe image.
        attributes: attributes for the tables.
        at: crossing or junction near the place; None for a place between junctions.
    """

    name: str
    tag: str
    on: Ground
    facing: Facing
    clearance_m: float
    min_visible_px: int
    parts: tuple[CasePart, ...]
    attributes: dict[str, str] = field(default_factory=dict)
    at: Site | None = None


@dataclass(frozen=True, slots=True)
class TagWords:
    """The words of one tag: synonyms, hypernyms, and the training sets that contain it."""

    synonyms: tuple[str, ...] = ()
    hypernyms: tuple[str, ...] = ()
    seen: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CornerCasesPlan:
    """The corner cases of a scene.

    Attributes:
        source: name of the file of cases.
        seed: seed of the places.
        words: words by tag, including tags of ordinary objects.
        in_domain: training set -> whether it contains the scene's town and weather.
    """

    source: str
    seed: int
    cases: tuple[CornerCasePlan, ...]
    words: dict[str, TagWords]
    in_domain: dict[str, bool]


def role_of_part(case: int, part: int) -> str:
    """Return the ``role_name`` of a part's actor, which identifies its case in the recording."""
    return f"{ROLE} {case} {part}"


def part_of_role(role_name: str) -> tuple[int, int] | None:
    """Return (case, part) of a ``role_name``; None for other roles."""
    words = role_name.split()
    if len(words) != 3 or words[0] != ROLE or not (words[1].isdigit() and words[2].isdigit()):
        return None
    return int(words[1]), int(words[2])


def own_parts(case: CornerCasePlan) -> list[CasePart]:
    """Return the parts of the main object, without parts of separate objects."""
    return [part for part in case.parts if part.tag == case.tag]


def part_poses(parts: Sequence[CasePart], dst_SE3_case: SE3) -> SE3:
    """Return (N,) poses of the parts' actors in frame ``dst``."""
    at_m = np.array([part.at_m for part in parts], dtype=np.float64)
    rpy_deg = np.array([part.rpy_deg for part in parts], dtype=np.float64)
    return dst_SE3_case @ unreal.map_SE3_flu_from_ue(unreal.ue_vector_from_map(at_m), ue_euler_deg=rpy_deg)


def parts_outline_m(parts: Sequence[CasePart], dst_SE3_case: SE3) -> FloatArray:
    """Return (8 N, 3) corners of the parts' boxes in frame ``dst``, metres; a part's origin is at its box's bottom."""
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (0, 2)], dtype=np.float64)
    poses = part_poses(parts, dst_SE3_case)
    return np.concatenate([poses[k].apply(signs * part.half_extent_m) for k, part in enumerate(parts)])
