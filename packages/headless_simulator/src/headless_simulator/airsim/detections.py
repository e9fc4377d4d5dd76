"""``simGetDetections``: objects visible to a camera, with the box around their visible pixels."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headless_simulator.airsim import geo
from headless_simulator.airsim.host import Pose6
from headless_simulator.airsim.imaging import ImageRequest
from headless_simulator.airsim.ned import (
    Quat,
    Vec3,
    ned_pose,
    pose_map,
    quat_conjugate,
    quat_multiply,
    rotate,
    vector_map,
)
from headless_simulator.airsim.objects import UNIT
from headless_simulator.scene import STATIC_ID, Movers, UInt32

if TYPE_CHECKING:
    from headless_simulator.airsim.simulation import Simulation

MAX_NAMES: Final = 1000
DEFAULT_RADIUS_M: Final = 200.0


@dataclass(slots=True)
class Filter:
    """A camera's name and distance filter of ``simGetDetections``."""

    names: list[str] = field(default_factory=list)
    radius_m: float = DEFAULT_RADIUS_M

    def add(self, name: str) -> None:
        """Add a name pattern; a full filter drops its oldest one."""
        self.names.append(name)
        del self.names[:-MAX_NAMES]

    def matches(self, name: str) -> bool:
        """Return whether a name matches the filter."""
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.names)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate: its name, its code in ``RenderedImage.ids``, pose and box (Unreal's axes)."""

    name: str
    code: int
    pose: Pose6
    box_centre_m: Vec3
    box_half_m: Vec3


def detect(
    sim: Simulation, request: ImageRequest, camera: tuple[Vec3, Quat, Vec3], object_filter: Filter, drones: Movers
) -> list[dict[str, Any]]:
    """Render the view and describe the visible objects that match the filter."""
    if not object_filter.names:
        return []
    image, movers = sim.image_capture.render(request, drones)
    visible_codes = np.unique(image.ids)
    eye = np.array(request.pose[:3])
    answers = []
    for candidate in _candidates(sim, movers, object_filter):
        if np.linalg.norm(np.array(candidate.box_centre_m) - eye) > object_filter.radius_m:
            continue
        row = int(np.searchsorted(visible_codes, candidate.code))
        if row < len(visible_codes) and visible_codes[row] == candidate.code:
            answers.append(_describe(sim, candidate, image.ids, camera))
    return answers


def _candidates(sim: Simulation, movers: Movers, object_filter: Filter) -> list[Candidate]:
    models = sim.host.models
    with sim.object_lock:
        names = {number: name for name, number in sim.objects.actors().items() if object_filter.matches(name)}
        types, scales = dict(sim.host.actor_types()), {}
        for spawned in sim.objects.spawned.values():
            if object_filter.matches(spawned.name):
                names[spawned.number], types[spawned.number] = spawned.name, spawned.blueprint
                scales[spawned.number] = spawned.scale
    found = [
        Candidate(item.name, item.object_id | STATIC_ID, item.pose, item.box_centre_m, item.box_half_m)
        for item in sim.host.town.objects
        if object_filter.matches(item.name)
    ]
    for row, number in enumerate(movers.actor_id.tolist()):
        if number in names:
            x, y, z, pitch, yaw, roll = (float(v) for v in movers.pose[row])
            scale = np.asarray(scales.get(number, UNIT))
            ox, oy, oz = scale * models.box_offset(types[number])
            c, s = np.cos(np.radians(yaw)), np.sin(np.radians(yaw))
            centre = (float(x + c * ox - s * oy), float(y + s * ox + c * oy), z + oz)
            half_x, half_y, half_z = scale * models.half_extent(types[number])
            half_m = (float(half_x), float(half_y), float(half_z))
            found.append(Candidate(names[number], number, (x, y, z, pitch, yaw, roll), centre, half_m))
    return found


def _describe(sim: Simulation, candidate: Candidate, ids: UInt32, camera: tuple[Vec3, Quat, Vec3]) -> dict[str, Any]:
    position, quat, origin = camera
    rows, columns = np.nonzero(ids == candidate.code)
    away = quat_conjugate(quat)
    object_position, object_quat = ned_pose(candidate.pose, origin_ue_m=origin)
    corners = _corners(candidate)
    box = np.array([rotate(away, _minus(ned_pose((*c, 0, 0, 0), origin_ue_m=origin)[0], position)) for c in corners])
    low, high = box.min(axis=0), box.max(axis=0)
    return {
        "name": candidate.name,
        "geo_point": geo.geo_map(sim.geo_of(candidate.pose[:3])),
        "box2D": {
            "min": {"x_val": float(columns.min()), "y_val": float(rows.min())},
            "max": {"x_val": float(columns.max() + 1), "y_val": float(rows.max() + 1)},
        },
        "box3D": {"min": vector_map(low), "max": vector_map(high)},
        "relative_pose": pose_map(
            rotate(away, _minus(object_position, position)),
            quat_multiply(away, object_quat),
        ),
    }


def _corners(candidate: Candidate) -> list[Vec3]:
    yaw = np.radians(candidate.pose[4])
    c, s = np.cos(yaw), np.sin(yaw)
    hx, hy, hz = candidate.box_half_m
    x, y, z = candidate.box_centre_m
    return [
        (float(x + c * i * hx - s * j * hy), float(y + s * i * hx + c * j * hy), float(z + k * hz))
        for i in (-1, 1)
        for j in (-1, 1)
        for k in (-1, 1)
    ]


def _minus(first: Vec3, second: Vec3) -> Vec3:
    return first[0] - second[0], first[1] - second[1], first[2] - second[2]
