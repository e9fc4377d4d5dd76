"""Draw what MapTR's own converter makes of our maps beside the maps themselves.

``scripts/trial map-maptr CONVERTER DATAROOT PNG [--packages FOLDER]``: DATAROOT is the folder of a car with nuScenes' rig, as
``uavsim export --format agents`` writes it; for the rest see ``maptr_judge.py``.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import uavsim
from uavsim.geometry import quaternion
from uavsim.typing import FloatArray

ROOT = Path(__file__).parents[4]
COLOURS = {"divider": "#e08a1e", "ped_crossing": "#3b82c4", "boundary": "#3a9a4f", "centerline": "#8a63c4"}
OURS = {"divider": ("road_divider", "lane_divider"), "ped_crossing": ("ped_crossing",), "boundary": ("drivable_area",)}
AHEAD_M, ASIDE_M = 30.0, 15.0  # MapTR's: 60 m along y of LIDAR_TOP, which is ahead, 30 m along x, to the right


def main() -> None:
    """Convert, draw, print."""
    parser = argparse.ArgumentParser(prog="scripts/trial map-maptr")
    parser.add_argument("converter", type=Path)
    parser.add_argument("dataroot", type=Path)
    parser.add_argument("png", type=Path)
    parser.add_argument("--packages", type=Path)
    options = parser.parse_args()
    judge = [ROOT / ".venv-judge/bin/python", "-W", "ignore", Path(__file__).with_name("maptr_judge.py")]
    command = [*judge, options.converter, options.dataroot, *([options.packages] if options.packages else [])]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    infos = json.loads(done.stdout)
    shown = list({info["town"]: info for info in infos if info["vectors"]["ped_crossing"]}.values())[:3]
    figure = Figure(figsize=(4.6 * len(shown), 4.8), layout="constrained")
    axes = figure.subplots(1, 2 * len(shown), squeeze=False)
    data = uavsim.open(options.dataroot)
    for column, info in enumerate(shown):
        _draw_theirs(axes[0, 2 * column], info)
        _draw_ours(axes[0, 2 * column + 1], next(s for s in data if s.token == info["scene"]), info)
    figure.savefig(options.png, dpi=70)
    counts = {kind: sum(len(info["vectors"][kind]) for info in infos) for kind in COLOURS}
    sys.stdout.write(f"{len(infos)} samples converted: {counts}; drawn: {options.png}\n")


def _draw_theirs(axes: Any, info: Any) -> None:
    for kind, lines in info["vectors"].items():
        for number, line in enumerate(np.array(one) for one in lines):
            axes.plot(line[:, 0], line[:, 1], color=COLOURS[kind], label=kind if number == 0 else None)
    _finish(axes, f"{info['town']}: MapTR")


def _draw_ours(axes: Any, scene: uavsim.Scene, info: Any) -> None:
    sample = next(s for s in scene if s.token == info["sample"])
    pose = next(scan for scan in sample.lidars if scan.channel == "LIDAR_TOP").map_SE3_sensor
    yaw, origin = float(quaternion.yaw(pose.quat_wxyz)), pose.translation_m[:2]

    def right_ahead(points: FloatArray) -> FloatArray:
        off = points[:, :2] - origin
        return np.asarray(
            [off[:, 0] * np.cos(yaw) + off[:, 1] * np.sin(yaw), off[:, 1] * np.cos(yaw) - off[:, 0] * np.sin(yaw)]
        )

    reach = np.hypot(AHEAD_M, ASIDE_M)
    bounds = (origin[0] - reach, origin[1] - reach, origin[0] + reach, origin[1] + reach)
    for kind, layers in OURS.items():
        lines = [line for layer in layers for shape in scene.map.shapes_near(layer, bounds) for line in shape]
        for right, ahead in map(right_ahead, lines):
            axes.plot(right, ahead, color=COLOURS[kind])
    for line in scene.map.centre_lines_map_m().values():
        axes.plot(*right_ahead(line), color=COLOURS["centerline"])
    _finish(axes, f"{info['town']}: the map")


def _finish(axes: Any, title: str) -> None:
    axes.set(xlim=(-ASIDE_M, ASIDE_M), ylim=(-AHEAD_M, AHEAD_M), title=title, xlabel="right, m", ylabel="ahead, m")
    axes.set_aspect("equal")
    axes.plot(0, 0, marker="^", color="black")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", fontsize=7)
