"""Time of an image, by stage: processor time per view of towns full of traffic.

Run it: ``python -m headless_simulator.render.bench [--towns NAME ...] [--movers N]`` prints one JSON object a town.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from headless_simulator.models import ModelLibrary
from headless_simulator.render.encode import encode_instance
from headless_simulator.render.renderer import Renderer
from headless_simulator.scene import Float64, Ground, Movers, RenderedImage, Town, UInt8, View, Weather
from headless_simulator.stages import count_stages, stage
from headless_simulator.towns import load_town

TOWNS: Final = ("Town10HD", "Town03", "Town07")
_ROUNDS: Final = 8


def measure(town: Town, views: Sequence[View], movers: Movers, *, weather: Weather | None = None) -> dict[str, float]:
    """Draw every view of one tick several times over on this thread.

    Returns:
        Processor milliseconds a view, as a mean: of an instance mask alone (``mask_ms``), of an image and a mask of one
        view (``pair_ms``), and of the latter by stage (``pair, raster town``, ...); and of what.
    """
    weather = weather or Weather(sun_altitude_angle=55.0, sun_azimuth_angle=40.0, cloudiness=20.0)
    renderer = Renderer(town.mesh, ModelLibrary(), town.signals)
    signals: UInt8 = np.zeros(len(town.signals), dtype=np.uint8)
    images: dict[int, RenderedImage] = {}
    masks = [np.empty((view.height, view.width, 4), dtype=np.uint8) for view in views]
    times = count_stages()
    row: dict[str, float] = {"views": len(views), "movers": len(movers.model), "triangles": len(town.mesh.triangles)}
    for name in ("mask", "pair"):
        for number in range(_ROUNDS + 1):
            for place, view in enumerate(views):
                with stage("rest"):
                    images[place] = renderer.render(
                        view, movers, weather=weather, signals=signals, time_s=0.0, want_bgra=name == "pair",
                        into=images.get(place),
                    )  # fmt: skip
                with stage("encode"):
                    encode_instance(images[place].ids, images[place].tag, masks[place])
            if not number:
                times.take()  # the first round compiles and fills caches
        spent_ms = {key: value for key, (value, _) in times.take().items()}
        row[f"{name}_ms"] = round(sum(spent_ms.values()) / _ROUNDS / len(views), 3)
    row |= {f"pair, {key}": round(value / _ROUNDS / len(views), 3) for key, value in spent_ms.items()}
    return row


def traffic(town: Town, count: int, *, seed: int = 0) -> Movers:
    """Vehicles of all kinds on and between a town's spawn points."""
    rng = np.random.default_rng(seed)
    models = ModelLibrary()
    names = [name for name in models.blueprints if name.startswith("vehicle.")]
    pose: Float64 = town.spawn_points[rng.integers(0, len(town.spawn_points), count)].astype(np.float64)
    ahead = np.radians(pose[:, 4])
    pose[:, :2] += (rng.uniform(0, 12, count) * np.stack([np.cos(ahead), np.sin(ahead)])).T
    pose[:, 2] = _height(town.ground, pose[:, :2])
    return Movers(
        model=np.array([models.number(names[i % len(names)]) for i in range(count)], dtype=np.int32),
        pose=pose,
        actor_id=np.arange(1, count + 1, dtype=np.uint32),
        colour_rgb=rng.integers(20, 240, (count, 3)).astype(np.uint8),
        lights=np.zeros(count, dtype=np.uint32),
    )


def drone_views(town: Town, *, height_m: float = 60.0) -> list[View]:
    """Front, left, right, back (45 degrees down) and bottom cameras of five drones in a cross over the town's middle."""
    middle = np.median(town.spawn_points[:, :2], axis=0)
    views = []
    for dx, dy in ((0, 0), (20, 0), (-20, 0), (0, -20), (0, 20)):
        at = (float(middle[0] + dx), float(middle[1] + dy))
        z = float(_height(town.ground, np.array([at]))[0]) + height_m
        views += [View((*at, z, -45.0, yaw, 0.0), 800, 450, 90.0) for yaw in (0.0, -90.0, 90.0, 180.0)]
        views.append(View((*at, z, -90.0, 0.0, 0.0), 800, 450, 90.0))
    return views


def _height(ground: Ground, at_m: Float64) -> Float64:
    cell = np.round((at_m - np.array(ground.origin_m)) / ground.cell_m).astype(np.int64)
    rows, columns = ground.height_m.shape
    height: Float64 = ground.height_m[cell[:, 1].clip(0, rows - 1), cell[:, 0].clip(0, columns - 1)].astype(np.float64)
    return height


def rows(towns: Sequence[str], movers: int) -> Iterator[dict[str, object]]:
    """Measure the reference profile: 25 views of 800x450."""
    for name in towns:
        town = load_town(name)
        yield {"town": name, **measure(town, drone_views(town), traffic(town, movers))}


def main(arguments: Sequence[str]) -> None:
    """Print a line a town."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--towns", nargs="+", default=list(TOWNS))
    parser.add_argument("--movers", type=int, default=200)
    options = parser.parse_args(arguments)
    for row in rows(options.towns, options.movers):
        sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
