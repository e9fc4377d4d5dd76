"""Render every layer of a map and call all queries of the unmodified devkit; prints JSON.

``.venv-judge/bin/python tests/maps/judges/devkit_judge.py DATAROOT NAME FIGURES``
"""

import json
import sys
from pathlib import Path

import descartes.patch
import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt
from nuscenes.map_expansion import map_api
from nuscenes.map_expansion.arcline_path_utils import discretize_lane
from nuscenes.map_expansion.bitmap import BitMap
from nuscenes.map_expansion.utils import get_disconnected_lanes

# the devkit draws with descartes, which takes the rings of shapely 1 for arrays
descartes.patch.asarray = lambda ring: np.asarray(getattr(ring, "coords", ring))


def main() -> None:
    """Query, draw and print."""
    root, name, figures = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    figures.mkdir(parents=True, exist_ok=True)
    if name not in map_api.locations:
        map_api.locations.append(name)
    town = map_api.NuScenesMap(str(root), name)
    found: dict[str, object] = {"layers": {layer: len(getattr(town, layer)) for layer in town.layer_names}}
    found["disconnected"] = len(get_disconnected_lanes(town))
    tables = json.loads((root / f"maps/expansion/{name}.json").read_text("utf-8"))
    west, south, east, north = tables["uav_bounds_m"]
    every = town.non_geometric_layers
    figure, _ = town.render_map_patch((west, south, east, north), every, figsize=(14, 14), render_egoposes_range=False)
    figure.savefig(figures / "map.png", dpi=60)
    tokens = [lane["token"] for lane in town.lane + town.lane_connector]
    poses = town.discretize_lanes(tokens, 0.5)
    found["poses"] = sum(map(len, poses.values()))
    found["joints"] = _joints(town, tokens)
    found["closest_lane_worst_m"] = max(_closest(town, poses, token) for token in tokens[:: max(len(tokens) // 30, 1)])
    if name not in {"singapore-onenorth", "singapore-hollandvillage", "singapore-queenstown", "boston-seaport"}:
        town.map_name = (
            "boston-seaport"  # get_map_mask asks for one of four names, and uses its size only for no box at all
        )
    # no edge of the box lies on one of the map: the devkit fails where their intersection is a line
    box = ((west + east) / 2 + 0.137, (south + north) / 2 + 0.173, 200.0, 200.0)
    masked = [layer for layer in every if layer != "traffic_light"]  # of which the devkit makes no mask
    mask = town.get_map_mask(box, 0.0, masked, (400, 400))
    found["mask"] = {layer: int(pixels.sum()) for layer, pixels in zip(masked, mask, strict=True)}
    turned = town.get_map_mask(box, 33.0, ["drivable_area", "lane", "ped_crossing"], (400, 400))
    np.save(figures / "turned.npy", turned)
    found["box"] = box
    figure, _ = town.render_map_mask(box, 0.0, masked, (400, 400), figsize=(24, 10), n_row=2)
    figure.savefig(figures / "mask.png", dpi=50)
    figure, axes = town.render_centerlines(0.5, figsize=1.0)
    figure.set_size_inches(8.0, 8.0)  # it goes by the canvas, which begins at (0, 0): a town south of it has none
    axes.set_position((0.0, 0.0, 1.0, 1.0))
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlim(west, east)
    axes.set_ylim(south, north)
    figure.savefig(figures / "centre.png", dpi=100)
    for layer in every:
        for record in getattr(town, layer)[:1]:
            x0, y0, x1, y1 = town.get_bounds(layer, record["token"])
            if y1 > y0 and x1 > x0:  # the devkit's own condition
                town.render_record(layer, record["token"], other_layers=[])
        plt.close("all")
    if (root / f"maps/basemap/{name}.png").exists():
        found["basemap_px"] = BitMap(str(root), name, "basemap").image.shape
    json.dump(found, sys.stdout)


def _joints(town: map_api.NuScenesMap, tokens: list[str]) -> list[float]:
    """Return gaps between lane points and curve ends, and between successive lanes: metres, metres, radians."""
    curves = {token: town.get_arcline_path(token) for token in tokens}  # stops where one has none
    poses = {token: np.array(discretize_lane(curve, 0.5)) for token, curve in curves.items()}
    first = np.array([poses[token][0] - curves[token][0]["start_pose"] for token in tokens])
    last = np.array([poses[token][-1] - curves[token][-1]["end_pose"] for token in tokens])
    gaps = np.array(
        [poses[token][-1] - poses[later][0] for token in tokens for later in town.get_outgoing_lane_ids(token)]
    )
    apart_m = [float(np.linalg.norm(found[:, :2], axis=1).max()) for found in (np.concatenate([first, last]), gaps)]
    return [*apart_m, float(np.abs((gaps[:, 2] + np.pi) % (2 * np.pi) - np.pi).max())]


def _closest(town: map_api.NuScenesMap, poses: dict[str, list[tuple[float, float, float]]], token: str) -> float:
    """Return the distance of the devkit's lane at a lane's centre from this point, metres."""
    x, y, _ = poses[token][len(poses[token]) // 2]
    found = np.array(poses[town.get_closest_lane(x, y, 5)])
    return float(np.linalg.norm(found[:, :2] - [x, y], axis=1).min())


main()
