"""Coverage of a dataset's encounters, laid beside what its YAML wants."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uavsim.geometry import pinhole
from uavsim.ingredients.intruders import approach
from uavsim.ingredients.intruders.encounters_config import Limits, Wanted
from uavsim.ingredients.intruders.intruder_plans import IntruderPlan, intruders_of
from uavsim.ingredients.intruders.plan_encounters import horizon_deg
from uavsim.ingredients.intruders.sight import is_valid, pixels_of
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import SensorSpec
from uavsim.typing import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """An intruder as its camera sees it, at every step; the camera looks through everything.

    Args:
        time_s: (K,).
        range_m: (K,) from the camera.
        bearing_deg: (K, 2) azimuth and elevation in the camera.
        over_horizon_deg: (K,) elevation less the horizon's.
        in_image: (K,) its centre is inside the image.
        pixel: (K, 2) where; NaN behind the camera.
    """

    time_s: FloatArray
    range_m: FloatArray
    bearing_deg: FloatArray
    over_horizon_deg: FloatArray
    in_image: BoolArray
    pixel: FloatArray


@dataclass(frozen=True, slots=True)
class Covered:
    """One line of the report."""

    measure: str
    wanted: str
    made: str


def sighting(plan: ScenePlan, intruder: IntruderPlan) -> Sighting:
    """Return how an intruder is seen."""
    spec = _camera(plan, intruder)
    row = plan.swarm.drone_ids.index(intruder.drone_id)
    map_SE3_camera = plan.swarm.map_SE3_flu[:, row] @ spec.flu_SE3_mount
    places_m = intruder.map_SE3_flu.translation_m
    pixel = pixels_of(map_SE3_camera, places_m, spec)
    apart_m = places_m - map_SE3_camera.translation_m
    elevation = np.degrees(np.arctan2(apart_m[:, 2], np.hypot(apart_m[:, 0], apart_m[:, 1])))
    heights_m = map_SE3_camera.translation_m[:, 2] - plan.town.ground_z_m
    horizon = np.array([horizon_deg(float(height)) for height in heights_m])
    return Sighting(
        time_s=np.asarray(np.arange(len(places_m)) * (plan.step_us * 1e-6), dtype=np.float64),
        range_m=approach.range_m(map_SE3_camera.translation_m, places_m),
        bearing_deg=approach.bearing_deg(map_SE3_camera.inverse().apply(places_m)),
        over_horizon_deg=elevation - horizon,
        in_image=pinhole.pixel_in_image(pixel, width_px=spec.camera.width_px, height_px=spec.camera.height_px),
        pixel=pixel,
    )


def _camera(plan: ScenePlan, intruder: IntruderPlan) -> SensorSpec:
    return next(spec for spec in plan.cameras if spec.name == intruder.camera)


def coverage(plans: Sequence[ScenePlan], wanted: Wanted, *, within_deg: float) -> list[Covered]:
    """Return wanted and made of planned intruders, one line a measure; shares of images are of those with one inside.

    Args:
        plans: of a dataset.
        wanted: its YAML's.
        within_deg: on the horizon is no farther from it.
    """
    everything = [(plan, intruder) for plan in plans for intruder in intruders_of(plan)]
    met = [(plan, intruder) for plan, intruder in everything if intruder.planned]
    if not met:
        return []
    seen = [sighting(plan, intruder) for plan, intruder in met]
    steps = [
        np.isin(np.arange(len(s.range_m)), list(plan.capture_steps)) for s, (plan, _) in zip(seen, met, strict=True)
    ]
    shown = [s.in_image & step for s, step in zip(seen, steps, strict=True)]

    def values(name: str) -> FloatArray:
        return np.concatenate([getattr(s, name)[rows] for s, rows in zip(seen, shown, strict=True)])

    images = sum(int(rows.sum()) for rows in shown)
    valid = [plan.scene_name for (plan, _), s, rows in zip(met, seen, shown, strict=True) if _is_valid(plan, s, rows)]
    rows = [
        Covered("encounters", "", str(len(met))),
        Covered("unplanned objects", "", str(len(everything) - len(met))),
        Covered("images with an encounter's intruder", "", str(images)),
    ]
    ranges = values("range_m")
    if len(ranges):
        low, high = np.percentile(ranges, [25, 75])
        rows.append(
            Covered("range m, middle half of images", _limits(wanted.range_middle_half_m), f"{low:.0f} to {high:.0f}")
        )
    courses = float(np.mean([intruder.collision_course for _, intruder in met]))
    rows.append(Covered("on collision course", _share(wanted.collision_course), _share(courses)))
    over = values("over_horizon_deg")
    sides = {"above": over > within_deg, "on": np.abs(over) <= within_deg, "below": over < -within_deg}
    for side, made in sides.items():
        asked = _share(getattr(wanted.horizon, side) if wanted.horizon is not None else None)
        rows.append(Covered(f"{side} the horizon, of images", asked, _share(float(made.mean()) if images else None)))
    rows += [
        Covered("azimuth deg at the begin", _limits(wanted.azimuth_deg), _span([i.azimuth_deg for _, i in met])),
        Covered("elevation deg at the begin", _limits(wanted.elevation_deg), _span([i.elevation_deg for _, i in met])),
        Covered("closing m/s at the begin", _limits(wanted.closing_mps), _span([i.closing_mps for _, i in met])),
        Covered("valid by AOT's rule", "", str(len(valid))),
        Covered("scenes with a valid one", "", f"{len(set(valid))} of {len(plans)}"),
        Covered("draws for one encounter, mean", "", f"{np.mean([i.draws for _, i in met]):.1f}"),
    ]  # fmt: skip
    return rows


def _is_valid(plan: ScenePlan, seen: Sighting, shown: BoolArray) -> bool:
    images = list(plan.capture_steps)
    return is_valid(seen.range_m[images], shown[images])


def _limits(limits: Limits | None) -> str:
    return "" if limits is None else f"{limits.low:g} to {limits.high:g}"


def _share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _span(values: Sequence[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"
