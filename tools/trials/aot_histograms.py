"""Print how `aot-mini` spreads its intruders: range, azimuth, elevation and area of what its camera shows, by its plan.

    scripts/trial aot-histograms [--dataset aot-mini]

Nothing is flown: every image's intruders follow from the plan, and what hides them is left out. The area is that of the box
of the body's eight projected corners, as a share of the image. Prints Markdown: a table of shares for each quantity, of
planned intruders and of all, and where encounters begin.
"""

import argparse
import itertools
from collections.abc import Sequence

import numpy as np

from uavsim.geometry.cuboid import corners
from uavsim.plan import DatasetPlanner
from uavsim.records.plan import ScenePlan
from uavsim.typing import FloatArray
from uavsim_scenarios.intruders.coverage import sighting
from uavsim_scenarios.intruders.records import IntruderPlan, intruders_of
from uavsim_scenarios.intruders.sight import pixels_of

EDGES: dict[str, list[float]] = {
    "range, m": [0, 300, 600, 1000, 1500, 2000, 3000, 6000],
    "azimuth, degrees": [-40, -30, -20, -10, 0, 10, 20, 30, 40],
    "elevation, degrees": [-30, -20, -10, -5, 0, 5, 10, 20, 30],
    "area, % of the image": [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 100],
}
BEGIN: dict[str, list[float]] = {
    "azimuth, degrees": [-60, -45, -30, -15, 0, 15, 30, 45, 60],
    "elevation, degrees": [-45, -30, -15, -5, 0, 5, 15, 30, 45],
}


def rows_of(plan: ScenePlan, one: IntruderPlan) -> FloatArray:
    """Return (K, 4) range, azimuth, elevation and area in the images of a scene that hold an intruder's middle."""
    seen = sighting(plan, one)
    shown = np.flatnonzero(seen.in_image & np.isin(np.arange(len(seen.range_m)), list(plan.capture_steps)))
    spec = next(spec for spec in plan.cameras if spec.name == one.camera)
    map_SE3_camera = plan.swarm.map_SE3_flu[:, plan.swarm.drone_ids.index(one.drone_id)] @ spec.flu_SE3_mount
    places_m = corners(one.map_SE3_flu[shown], size_lwh_m=np.broadcast_to(one.size_lwh_m, (len(shown), 3)))
    size_px = spec.camera.width_px, spec.camera.height_px
    area = np.zeros(len(shown))
    for at, step in enumerate(shown.tolist()):
        pixels = pixels_of(map_SE3_camera[step], places_m[at], spec)
        seen_px = np.clip(pixels[np.isfinite(pixels).all(axis=1)], 0, size_px)  # of what is not behind the camera
        area[at] = np.ptp(seen_px, axis=0).prod() / np.prod(size_px)
    return np.column_stack([seen.range_m[shown], seen.bearing_deg[shown], 100 * area])


def histogram(values: Sequence[FloatArray], edges: Sequence[float]) -> list[str]:
    """Return the share of values between each two edges, in per cent, as cells of a table."""
    counts = [np.histogram(part, edges)[0] / max(len(part), 1) for part in values]
    parts = [f"{low:g} to {high:g}" for low, high in itertools.pairwise(edges)]
    return [
        f"| {part} | " + " | ".join(f"{100 * share[n]:.1f}" for share in counts) + " |" for n, part in enumerate(parts)
    ]


def main() -> int:
    """Plan, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="aot-mini")
    dataset = parser.parse_args().dataset
    planner = DatasetPlanner.open(dataset)
    plans = [plan for town in planner.dataset.model.towns for plan in planner.plans(town)]
    flown = [(plan, one) for plan in plans for one in intruders_of(plan)]
    rows = [rows_of(plan, one) for plan, one in flown]
    of_all = np.concatenate(rows)
    planned = np.concatenate([own for own, (_, one) in zip(rows, flown, strict=True) if one.planned])
    print(f"{len(plans)} flights, {len(flown)} intruders, {len(of_all)} in images, {len(planned)} of them planned")
    quarters = np.percentile(planned, [25, 50, 75], axis=0)
    print(
        f"range of planned ones, quartiles: {quarters[:, 0].round().tolist()}; area, %: {quarters[:, 3].round(4).tolist()}"
    )
    for column, (name, edges) in enumerate(EDGES.items()):
        print(f"\n| {name} | planned, % of images | all, % |\n|---|---|---|")
        print("\n".join(histogram([planned[:, column], of_all[:, column]], edges)))
    for name, edges in BEGIN.items():
        begin = [
            np.array([getattr(one, f"{name.split(',')[0]}_deg") for _, one in flown if one.planned or every])
            for every in (0, 1)
        ]
        print(f"\n| {name}, at the begin | planned, % of encounters | all, % |\n|---|---|---|")
        print("\n".join(histogram(begin, edges)))
    return 0
