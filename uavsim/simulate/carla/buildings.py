"""The buildings of a town from a CARLA server. Imports ``carla``."""

import carla
import numpy as np

from uavsim.geometry import cuboid, unreal
from uavsim.records.road_map import Building
from uavsim.simulate.carla.errors import translated


def buildings_of(world: carla.World) -> list[Building]:
    """Return the footprints and heights of a world's buildings, sorted.

    CARLA gives the boxes in world coordinates, with the object's rotation. Boxes without a size or a finite position are left
    out.
    """
    with translated("reading the buildings"):
        objects = world.get_environment_objects(carla.CityObjectLabel.Buildings)
    boxes = [found.bounding_box for found in objects]
    half = np.array([(b.extent.x, b.extent.y, b.extent.z) for b in boxes], dtype=np.float64).reshape(-1, 3)
    centre = np.array([(b.location.x, b.location.y, b.location.z) for b in boxes], dtype=np.float64).reshape(-1, 3)
    turn = np.array([(b.rotation.roll, b.rotation.pitch, b.rotation.yaw) for b in boxes], dtype=np.float64)
    is_valid = np.isfinite(half).all(axis=1) & np.isfinite(centre).all(axis=1) & (half > 0.0).all(axis=1)
    rows = np.flatnonzero(is_valid)
    if not len(rows):
        return []
    map_SE3_box = unreal.map_SE3_flu_from_ue(centre[rows], ue_euler_deg=turn[rows])
    z = cuboid.corners(map_SE3_box, size_lwh_m=2.0 * half[rows])[..., 2]
    rings = cuboid.footprints(map_SE3_box, size_lwh_m=2.0 * half[rows]).round(3)
    low, high = z.min(axis=1).round(3).tolist(), z.max(axis=1).round(3).tolist()
    buildings = (
        Building(str(objects[row].name), low[n], high[n], list(dict.fromkeys(map(tuple, rings[n].tolist()))))
        for n, row in enumerate(rows.tolist())
    )
    return sorted(buildings)
