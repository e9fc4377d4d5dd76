"""Draw every town of the headless simulator from 60 m and from the street: the images of its page on how towns look.

    python -m tools.drawings.towns [--towns Town01 ...] [--out packages/headless_simulator/docs/towns]

Writes ``<town>_60m.jpg`` and ``<town>_street.jpg``: 80 cars of the catalogue on and between spawn points, clear weather.
A town may also be an OpenDRIVE file.
"""

import argparse
import sys
from dataclasses import fields
from pathlib import Path

import cv2
import numpy as np
from headless_simulator.models import ModelLibrary
from headless_simulator.render import Renderer
from headless_simulator.scene import Float64, Ground, Movers, Town, View, Weather
from headless_simulator.towns import NAMES, load_opendrive, load_town

from tools.common import ROOT

WIDTH_PX, HEIGHT_PX, QUALITY = 560, 315, 82
WEATHER = Weather(sun_altitude_angle=48.0, sun_azimuth_angle=40.0, cloudiness=20.0)
CARS = 80
CLEAR_M = 14.0  # no car stands nearer to a camera in a lane: it could be inside a bus
OVER = {"Town04": (-40.0, 424.0)}  # shows the town's motorway, which is far from most spawn points
HIGH = {"Town04": (-300.0, 385.0, 62.0, -20.0, 180.0, 0.0)}  # on its bend before the mountains


def traffic(town: Town, count: int, *, seed: int = 0) -> Movers:
    """Return vehicles of all kinds on and between a town's spawn points."""
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


def _height(ground: Ground, at_m: Float64) -> Float64:
    cell = np.round((at_m - np.array(ground.origin_m)) / ground.cell_m).astype(np.int64)
    rows, columns = ground.height_m.shape
    height: Float64 = ground.height_m[cell[:, 1].clip(0, rows - 1), cell[:, 0].clip(0, columns - 1)].astype(np.float64)
    return height


def views(town: Town) -> dict[str, View]:
    """Return the two cameras: over a crossing near the middle of the traffic, and in a lane that leads to it."""
    middle = np.array(OVER.get(town.name, np.median(town.spawn_points[:, :2], axis=0)))
    places = np.array([head.pose for head in town.signals]) if town.signals else town.spawn_points
    x, y, z = places[np.hypot(*(places[:, :2] - middle).T).argmin(), :3]
    away = np.hypot(*(town.spawn_points[:, :2] - (x, y)).T)
    lane = town.spawn_points[np.abs(away - 35.0).argmin()]
    yaw = float(lane[4])
    back = np.array([np.cos(np.radians(yaw)), np.sin(np.radians(yaw))]) * 55.0
    high = (float(x - back[0]), float(y - back[1]), float(z) + 60.0, -42.0, yaw, 0.0)
    over = View(HIGH.get(town.name, high), WIDTH_PX, HEIGHT_PX, 90.0)
    east, south, up = (float(v) for v in lane[:3])
    street = View((east, south, up + 1.5, -2.0, yaw, 0.0), WIDTH_PX, HEIGHT_PX, 90.0)
    return {"60m": over, "street": street}


def clear_of(movers: Movers, places_m: list[tuple[float, float]]) -> Movers:
    """Return the cars that do not block a camera."""
    away = np.min([np.hypot(*(movers.pose[:, :2] - camera_m).T) for camera_m in places_m], axis=0)
    free = away > CLEAR_M
    columns = {field.name: getattr(movers, field.name)[free] for field in fields(movers)}
    return Movers(**columns)


def main() -> int:
    """Draw and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--towns", nargs="+", default=list(NAMES))
    parser.add_argument("--out", type=Path, default=ROOT / "packages" / "headless_simulator" / "docs" / "towns")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.towns:
        town = load_opendrive(name) if name.endswith(".xodr") else load_town(name)
        renderer = Renderer(town.mesh, ModelLibrary(), town.signals)
        movers = clear_of(traffic(town, CARS), [view.pose[:2] for view in views(town).values()])
        green = np.zeros(len(town.signals), np.uint8)
        for what, view in views(town).items():
            image = renderer.render(view, movers, weather=WEATHER, signals=green, time_s=0.0, want_bgra=True).bgra
            assert image is not None
            path = options.out / f"{town.name.lower()}_{what}.jpg"
            cv2.imwrite(str(path), image[:, :, :3], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
            sys.stdout.write(f"{path}: {path.stat().st_size / 1e3:.0f} kB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
