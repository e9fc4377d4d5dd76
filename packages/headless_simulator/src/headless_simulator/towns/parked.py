"""Parked vehicles on parking lanes and wide shoulders, with the traffic's meshes."""

from typing import Final

import numpy as np

from headless_simulator.models import ModelLibrary
from headless_simulator.models.catalogue import VEHICLES
from headless_simulator.scene import TAG, Float64
from headless_simulator.towns.lanes_index import pose_on
from headless_simulator.towns.objects import Stock, to_world
from headless_simulator.towns.strips import Strip

_SLOT_M: Final = 6.2  # along the road, cars in line
_BAY_M: Final = 2.9  # along the road, cars side by side
_DEEP_M: Final = 4.6  # lanes this wide have bays
_FASTEST_KMH: Final = 65.0  # no parking beside faster roads
_TAG_NAMES: Final = {number: name for name, number in TAG.items()}


def _choices() -> list[str]:
    """Cars and small vans that fit a parking place."""
    return [
        name
        for name, spec in VEHICLES.items()
        if spec.base_type in ("car", "van") and spec.half_extent_m[0] < 2.75 and spec.special_type != "emergency"
    ]


def park_vehicles(stock: Stock, strips: list[Strip], share: float, rng: np.random.Generator) -> None:
    """Fill a share of the parking places.

    Args:
        stock: receives the vehicles.
        strips: all lanes; "parking" ones are used, and shoulders of 1.9 to 3 m at half the share.
        share: share of occupied places.
        rng: random generator of model, colour and place.
    """
    library, choices = ModelLibrary(), _choices()
    for strip in strips:
        width = float(np.median(strip.width_m))
        if (
            strip.junction
            or strip.limit_kmh > _FASTEST_KMH
            or not ((strip.kind == "parking" and width > 1.7) or (strip.kind == "shoulder" and 1.9 < width < 3.0))
        ):
            continue
        bays = strip.kind == "parking" and width > _DEEP_M
        step = _BAY_M if bays else _SLOT_M
        odds = share if strip.kind == "parking" else share / 2
        for s in np.arange(strip.s[0] + 9.0, strip.s[-1] - 9.0, step):
            if rng.random() > odds:
                continue
            pose = pose_on(strip, float(s))
            yaw = pose[4] + (90.0 if bays else 0.0) + float(rng.normal(0, 1.2))
            position_m = np.array(pose[:3])
            position_m[:2] += rng.normal(0, 0.08, 2)
            _park(
                stock,
                library,
                choices[int(rng.integers(len(choices)))],
                (position_m, yaw, pose[3] if not bays else 0.0),
                rng,
            )


def _park(
    stock: Stock, library: ModelLibrary, blueprint: str, pose: tuple[Float64, float, float], rng: np.random.Generator
) -> None:
    spec = VEHICLES[blueprint]
    colour = spec.colours[int(rng.integers(len(spec.colours)))]
    mesh = library.painted(library.number(blueprint), colour)
    (x, y, z), yaw, pitch = pose
    half, offset = np.asarray(spec.half_extent_m), np.asarray(spec.box_offset_m)
    points = mesh.vertices_m.astype(np.float64)
    tilt = np.tan(np.radians(pitch))
    world = to_world(points, x, y, z, yaw)
    world[:, 2] += points[:, 0] * tilt
    number = stock.add("ParkedVehicle", _TAG_NAMES[spec.tag], (x, y, z, yaw), (offset - half, offset + half), blueprint)
    stock.triangle_soup.mesh_parts(mesh, world, number)
