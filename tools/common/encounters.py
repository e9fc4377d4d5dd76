"""Random requests of aerial encounters, and measurements of flown encounters from poses.

The closest approach and its time come from brute force in steps of 2 ms; closing speed, range, azimuth and elevation are those
at the start of the encounter.
"""

import numpy as np

from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.intruders.intruder_plans import INTRUDERS
from uavsim.ingredients.intruders.paths import OwnPath
from uavsim.ingredients.intruders.solve import Encounter, EncounterSpec
from uavsim.typing import FloatArray

WITHIN = 0.01
LEAST = {
    "cpa_m": 0.05,
    "time_to_cpa_s": 0.02,
    "closing_mps": 0.05,
    "range_m": 1e-3,
    "azimuth_deg": 0.01,
    "elevation_deg": 0.01,
}
"""Absolute tolerances, because 1 % of a miss distance of 0 is 0."""
PATHS = ("rectilinear", "turning", "climbing", "overtaking", "non_cooperative")
LOWEST_M = 10.0


def own_flight(rng: np.random.Generator) -> tuple[OwnPath, SE3]:
    """Return a curved flight of two minutes and the poses of a camera that looks ahead and a little down."""
    time_s: FloatArray = np.arange(2401, dtype=np.float64) * 0.05
    speed, swing = rng.uniform(4.0, 15.0), rng.uniform(0.0, 30.0)
    pace = 2.0 * np.pi / rng.uniform(40.0, 90.0)
    places = np.column_stack(
        [speed * time_s, swing * np.sin(pace * time_s), 150.0 + 10.0 * np.sin(0.7 * pace * time_s)]
    )
    yaw = np.arctan2(swing * pace * np.cos(pace * time_s), speed)
    down = quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.radians(5.0))
    return OwnPath(time_s, places), SE3(quaternion.multiply(quaternion.from_yaw(yaw), down), places)


def random_request(rng: np.random.Generator) -> EncounterSpec:
    """Return a random request, which may be impossible."""
    kind, path = str(rng.choice(list(INTRUDERS))), str(rng.choice(PATHS))
    large = kind in ("aeroplane", "helicopter")
    values = {
        "range_m": rng.uniform(300, 3000) if large else rng.uniform(40, 700),
        "closing_mps": rng.uniform(5, 70) if large else rng.uniform(1, 25),
        "cpa_m": rng.uniform(0, 300) if large else rng.uniform(0, 40),
        "time_to_cpa_s": rng.uniform(5, 115),
    }
    del values[str(rng.choice(list(values)))]
    return EncounterSpec(
        kind,
        path,
        azimuth_deg=rng.uniform(-60, 60),
        elevation_deg=rng.uniform(-10, 20),
        begin_s=float(rng.choice([0.0, 2.5])),
        range_m=values.get("range_m"),
        closing_mps=values.get("closing_mps"),
        cpa_m=values.get("cpa_m"),
        time_to_cpa_s=values.get("time_to_cpa_s"),
        turn_dps={"turning": rng.uniform(-4, 4), "non_cooperative": rng.uniform(1, 7)}.get(path, 0.0),
        weave_s=rng.uniform(8, 30) if path == "non_cooperative" else 0.0,
        climb_mps=rng.uniform(-4, 4) if path == "climbing" else 0.0,
    )


def above_ground(places_m: FloatArray) -> str | None:
    """Return the reason if a path of (N, 3) positions, metres, comes too near to the ground; else None."""
    lowest = float(places_m[:, 2].min())
    return f"it comes within {lowest:.1f} m of the ground" if lowest < LOWEST_M else None


def flown(encounter: Encounter, ego_path: OwnPath, map_SE3_camera: SE3) -> dict[str, float]:
    """Measure an encounter from poses only."""
    places = encounter.map_SE3_flu.translation_m
    fine_s = np.arange(0.0, ego_path.time_s[-1], 0.002)
    apart = places - ego_path.position_m
    dense = np.stack([np.interp(fine_s, ego_path.time_s, apart[:, i]) for i in range(3)], axis=1)
    distance = np.sqrt((dense**2).sum(axis=1))
    nearest = int(distance.argmin())
    begin = round(encounter.spec.begin_s / ego_path.step_s)
    ranges = np.sqrt((apart**2).sum(axis=1))
    if begin:
        closing = (ranges[begin - 1] - ranges[begin + 1]) / (2 * ego_path.step_s)
    else:
        closing = (3 * ranges[0] - 4 * ranges[1] + ranges[2]) / (2 * ego_path.step_s)
    x, y, z = map_SE3_camera[begin].inverse().apply(places[begin])
    return {
        "cpa_m": float(distance[nearest]),
        "time_to_cpa_s": float(fine_s[nearest]) - encounter.spec.begin_s,
        "closing_mps": float(closing),
        "range_m": float(ranges[begin]),
        "azimuth_deg": float(np.degrees(np.arctan2(-y, x))),
        "elevation_deg": float(np.degrees(np.arctan2(z, np.hypot(x, y)))),
    }


def compare(spec: EncounterSpec, figures: dict[str, float]) -> tuple[list[str], float]:
    """Return errors over 1 % and the largest relative error."""
    wrong, largest = [], 0.0
    for name, least in LEAST.items():
        requested = getattr(spec, name)
        if requested is None:
            continue
        off = abs(figures[name] - requested)
        if off > least:
            largest = max(largest, off / max(abs(requested), 1e-9))
            if off > WITHIN * abs(requested):
                wrong.append(f"{name}: {requested:.6g} requested, {figures[name]:.6g} flown ({spec})")
    return wrong, largest
