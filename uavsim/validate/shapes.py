"""Checks of single boxes: valid rotations, plausible sizes that stay constant along a track, and a place on the ground."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim.validate.dataset import DataSet, FindingPlace, box_finding
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding
from uavsim.validate.lens import lens_faults

UNIT_TOLERANCE: Final = 1e-6
SIZE_STEP_M: Final = 0.01
GROUND_NEIGHBOURS: Final = 12
GROUND_REACH_M: Final = 25.0
GROUND_STEP_M: Final = 1.0
GROUND_SLOPE: Final = 0.15
_STEEPEST_UP: Final = 0.95  # no road is steeper than 0.33: a box that leans more is excused by no more
TWIN_M: Final = 0.5
TABLE_SHARE: Final = 0.25  # versions of CARLA differ by a few per cent; half, double or swapped sizes by far more
_RANGE_M: Final = {  # (length, width, height) low and high
    "vehicle.car": ((2.0, 1.2, 1.0), (7.0, 3.2, 3.0)),
    "vehicle.truck": ((4.0, 1.7, 1.7), (20.0, 4.0, 5.0)),
    "vehicle.bus": ((4.5, 1.8, 2.0), (20.0, 4.5, 5.0)),
    "vehicle.bicycle": ((1.0, 0.2, 0.8), (2.6, 1.2, 2.4)),
    "vehicle.motorcycle": ((1.2, 0.3, 0.8), (3.2, 1.6, 2.4)),
    "human.pedestrian": ((0.2, 0.2, 0.8), (1.6, 1.6, 2.4)),
    "vehicle.ego": ((0.1, 0.1, 0.03), (5.0, 5.0, 2.0)),  # drones
    "vehicle.": ((1.0, 0.2, 0.6), (20.0, 4.5, 5.0)),
    "walker.": ((0.2, 0.2, 0.8), (1.6, 1.6, 2.4)),
}
_KNOWN_HALF_M: Final = {  # CARLA's bounding boxes, half length, width, height
    "vehicle.audi.a2": (1.853, 0.894, 0.775),
    "vehicle.audi.etron": (2.428, 1.016, 0.825),
    "vehicle.audi.tt": (2.091, 0.997, 0.693),
    "vehicle.bmw.grandtourer": (2.306, 1.121, 0.834),
    "vehicle.carlamotors.carlacola": (2.601, 1.308, 1.233),
    "vehicle.chevrolet.impala": (2.679, 1.017, 0.705),
    "vehicle.citroen.c3": (1.994, 0.926, 0.809),
    "vehicle.dodge.charger_police": (2.487, 1.019, 0.771),
    "vehicle.ford.mustang": (2.359, 0.947, 0.651),
    "vehicle.jeep.wrangler_rubicon": (1.933, 0.953, 0.939),
    "vehicle.lincoln.mkz_2017": (2.451, 1.064, 0.755),
    "vehicle.mercedes.coupe": (2.513, 1.076, 0.825),
    "vehicle.mini.cooper_s": (1.903, 0.985, 0.738),
    "vehicle.nissan.micra": (1.817, 0.923, 0.751),
    "vehicle.nissan.patrol": (2.302, 0.966, 0.927),
    "vehicle.seat.leon": (2.096, 0.908, 0.737),
    "vehicle.tesla.cybertruck": (3.137, 1.195, 1.049),
    "vehicle.tesla.model3": (2.396, 1.082, 0.744),
    "vehicle.toyota.prius": (2.257, 1.003, 0.762),
    "vehicle.volkswagen.t2": (2.240, 1.035, 1.019),
}


def rotations_unit(evidence: Evidence) -> Iterator[Finding]:
    """Quaternions have length 1."""
    data = evidence.data
    for name in ("sample_annotation", "ego_pose", "calibrated_sensor"):
        length = np.linalg.norm(data[name]["rotation"], axis=1)
        for row in np.flatnonzero(np.abs(length - 1) > UNIT_TOLERANCE).tolist():
            message = f"{name}.rotation of {data[name].tokens[row]} has length {length[row]:.6g}"
            location = data.locate(name, row) or _place_of_pose(data, name, row)
            yield Finding("shape.rotation", message, numbers={"length": float(length[row])}, **location)


def _place_of_pose(data: DataSet, name: str, row: int) -> FindingPlace:
    if name == "sample_annotation":  # its sample does not exist
        return FindingPlace()
    users = np.flatnonzero(data["sample_data"][f"{name}_token"] == row)
    return data.data_place(int(users[0])) if len(users) else FindingPlace()


def intrinsics_plausible(evidence: Evidence) -> Iterator[Finding]:
    """A pinhole's matrix: square pixels, upper triangular, principal point in the image, the same in every scene."""
    data, cameras = evidence.data, evidence.cameras
    k = cameras.intrinsic
    width, height = data["sample_data"]["width"][cameras.rows], data["sample_data"]["height"][cameras.rows]
    centred = (k[:, 0, 2] > 0) & (k[:, 0, 2] < width) & (k[:, 1, 2] > 0) & (k[:, 1, 2] < height)
    pinhole = (
        (k[:, 0, 0] > 0) & (k[:, 1, 1] > 0) & (k[:, 2, 2] == 1) & (k[:, 1, 0] == 0) & (k[:, 2, :2] == 0).all(axis=1)
    )
    _, first = np.unique(data["sample_data"]["calibrated_sensor_token"][cameras.rows], return_index=True)
    for view in np.sort(first).tolist():
        if not (centred[view] and pinhole[view]):
            yield Finding("shape.intrinsic", "invalid pinhole matrix", **data.data_place(int(cameras.rows[view])))
        elif (lens := cameras.lenses[view]) is not None:
            for fault in lens_faults(lens, int(width[view]), int(height[view])):
                yield Finding("shape.lens", fault, **data.data_place(int(cameras.rows[view])))
    yield from _intrinsics_constant(evidence, first)


def _intrinsics_constant(evidence: Evidence, views: IntArray) -> Iterator[Finding]:
    data, cameras = evidence.data, evidence.cameras
    sensor = data.sensor_of_data[cameras.rows[views]]
    flat = cameras.intrinsic[views].reshape(-1, 9)
    for channel in np.unique(sensor).tolist():
        channel_views = np.flatnonzero(sensor == channel)
        usual = np.median(flat[channel_views], axis=0)
        off = np.abs(flat[channel_views] - usual).max(axis=1) > 1e-6
        for view in views[channel_views[off]].tolist() if len(channel_views) > 2 else []:
            location = data.data_place(int(cameras.rows[view]))
            focal = float(cameras.intrinsic[view, 0, 0])
            message = f"focal length {focal:g} px, this channel has {usual[0]:g} elsewhere"
            yield Finding("shape.intrinsic", message, severity="warning", numbers={"focal_px": focal}, **location)


def sizes_plausible(evidence: Evidence) -> Iterator[Finding]:
    """Sizes are positive, of the order that their category has, and longer than wide."""
    data, half = evidence.data, evidence.boxes.half_lwh_m
    size = 2 * half
    bad: BoolArray = np.logical_not((size > 0).all(axis=1))
    yield from _size_findings(data, bad, size, "shape.size", "size {size} is not positive")
    wide = data.of_category(lambda name: name.startswith("vehicle.")) & ~bad & (size[:, 1] > 1.05 * size[:, 0])
    words = "wider than long, {size} (l, w, h): width and length swapped"
    yield from _size_findings(data, wide, size, "shape.size_order", words)
    bad |= wide
    for start, (low, high) in _RANGE_M.items():
        in_class = data.of_category(lambda name, start=start: _range_of(name) == start)  # type: ignore[misc]
        odd = in_class & ~bad & ~data.placed & ((size < low) | (size > high)).any(axis=1)
        words = f"size {{size}} (l, w, h) is not plausible for a {start.strip('.')}"
        yield from _size_findings(data, odd, size, "shape.size", words)


def _range_of(name: str) -> str:
    return next((start for start in _RANGE_M if name.startswith(start)), "")


def _size_findings(data: DataSet, bad: BoolArray, size: FloatArray, code: str, words: str) -> Iterator[Finding]:
    for row in np.flatnonzero(bad).tolist():
        yield box_finding(data, row, code, words.format(size=_as_text(size[row])))


def _as_text(size_m: FloatArray) -> str:
    return " x ".join(f"{value:.2f}" for value in size_m)


def sizes_constant(evidence: Evidence) -> Iterator[Finding]:
    """An object keeps its size along its track, and objects of one blueprint have one size."""
    data, size = evidence.data, 2 * evidence.boxes.half_lwh_m
    instance = data["sample_annotation"]["instance_token"]
    usual_of_track = _medians(instance, size, len(data["instance"]))
    known = np.flatnonzero(instance >= 0)
    off = np.abs(size[known] - usual_of_track[instance[known]]).max(axis=1) > SIZE_STEP_M
    for row in known[off].tolist():
        usual = _as_text(usual_of_track[instance[row]])
        message = f"size {_as_text(size[row])} differs from its track's {usual}"
        yield box_finding(data, row, "shape.size_changes", message)
    numbers = _blueprint_numbers(data)
    first = data["instance"]["first_annotation_token"]
    blueprint = np.where(first >= 0, numbers[np.maximum(first, 0)], -1) if len(numbers) else np.full(len(first), -1)
    blueprint = np.where(data.placed_instances, -1, blueprint)  # the doors of placed vehicles may be open
    yield from _against_blueprint(data, blueprint, usual_of_track)


def _blueprint_numbers(data: DataSet) -> IntArray:
    table = data["sample_annotation"]
    if "uav_blueprint" not in table:
        return data.category_of_annotation if data.dialect == "uav3d" else np.full(len(table), -1)
    known = [  # names of a town's parts are unique in this town only
        (town if name.startswith("environment.") else "", name)
        for town, name in zip(_towns(data), table["uav_blueprint"], strict=True)
    ]
    names = {name: i for i, name in enumerate(sorted(set(known)))}
    return np.array([names[name] if name[1] else -1 for name in known], np.int64)


def _towns(data: DataSet) -> list[str]:
    """Return the town of every annotation, "" for a broken chain of references."""
    location = data["log"]["location"]
    of_scene = [location[log] if log >= 0 else "" for log in data["scene"]["log_token"].tolist()]
    return [of_scene[scene] if scene >= 0 else "" for scene in data.scene_of_annotation.tolist()]


def _medians(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Return the (groups, k) medians of (N, k) values by (N,) group, NaN for an empty group."""
    out = np.full((groups, values.shape[1]), np.nan)
    known = group >= 0
    group_numbers, count = np.unique(group[known], return_counts=True)
    last = np.cumsum(count) - 1
    low, high = last - count // 2, last - (count - 1) // 2
    for k in range(values.shape[1]):
        column = values[known, k]
        column = column[np.lexsort((column, group[known]))]  # nan comes last
        out[group_numbers, k] = np.where(np.isnan(column[last]), np.nan, (column[low] + column[high]) / 2)
    return out


def _against_blueprint(data: DataSet, blueprint: IntArray, size: FloatArray) -> Iterator[Finding]:
    known = (blueprint >= 0) & np.isfinite(size).all(axis=1)
    usual = _medians(np.where(known, blueprint, -1), size, int(blueprint.max(initial=-1)) + 1)
    count = np.bincount(blueprint[known], minlength=len(usual))
    for row in np.flatnonzero(known).tolist():
        off = np.abs(size[row] - usual[blueprint[row]]).max()
        if count[blueprint[row]] >= 3 and off > SIZE_STEP_M:
            message = f"instance {data['instance'].tokens[row]} is {off:.2f} m off the size of its blueprint's others"
            yield Finding("shape.blueprint", message, numbers={"off_m": float(off)}, **data.locate("instance", row))


def sizes_known(evidence: Evidence) -> Iterator[Finding]:
    """Vehicles of CARLA's old catalogue have the size of CARLA's bounding boxes."""
    data = evidence.data
    first = data["instance"]["first_annotation_token"]
    for row in np.flatnonzero((first >= 0) & ~data.placed_instances).tolist():
        name = _blueprint_of(data, row)
        known = _KNOWN_HALF_M.get(name)
        half = evidence.boxes.half_lwh_m[first[row]]
        if known and not np.all(np.abs(half / known - 1) < TABLE_SHARE):
            usual = _as_text(2 * np.array(known))
            message = f"{name} with {_as_text(2 * half)} m (l, w, h); CARLA's is {usual} m"
            yield box_finding(data, int(first[row]), "shape.blueprint", message)


def _blueprint_of(data: DataSet, instance: int) -> str:
    table, first = data["sample_annotation"], int(data["instance"]["first_annotation_token"][instance])
    if "uav_blueprint" in table and first >= 0:
        return str(table["uav_blueprint"][first])
    category = int(data["instance"]["category_token"][instance])
    return str(data["category"]["name"][category]) if category >= 0 and data.dialect == "uav3d" else ""


def categories_agree(evidence: Evidence) -> Iterator[Finding]:
    """Instances of one blueprint have one category."""
    data = evidence.data
    category = data["instance"]["category_token"]
    blueprints = [_blueprint_of(data, row) for row in range(len(data["instance"]))]
    for blueprint in sorted(set(blueprints) - {""}):
        rows = np.array([i for i, name in enumerate(blueprints) if name == blueprint and category[i] >= 0], np.int64)
        counts = np.bincount(category[rows], minlength=1)
        usual = int(np.argmax(counts))
        for row in rows[category[rows] != usual].tolist() if counts[usual] * 2 > len(rows) else []:
            names = data["category"]["name"]
            message = f"{blueprint} is {names[category[row]]} here and {names[usual]} elsewhere"
            numbers = {"token": data["instance"].tokens[row]}
            yield Finding("shape.category", message, numbers=numbers, **data.locate("instance", row))


def boxes_upright(evidence: Evidence) -> Iterator[Finding]:
    """Boxes stand upright, except objects that a corner case placed."""
    up = evidence.boxes.rotation[:, 2, 2]
    for row in np.flatnonzero(evidence.boxes.usable & ~evidence.data.placed & (up < 0.7)).tolist():
        message = f"box leans by {np.degrees(np.arccos(np.clip(up[row], -1, 1))):.0f} degrees"
        yield box_finding(evidence.data, row, "shape.upright", message)


def boxes_on_ground(evidence: Evidence) -> Iterator[Finding]:
    """The lower face of a box lies at the height of other objects nearby; objects of corner cases are exempt."""
    data, boxes = evidence.data, evidence.boxes
    towns = np.array(_towns(data), object)
    for town in sorted(set(towns.tolist())):
        rows = np.flatnonzero(boxes.usable & ~data.placed & ~data.flies & (towns == town))
        yield from _ground_of_town(evidence, rows)


def _ground_of_town(evidence: Evidence, rows: IntArray) -> Iterator[Finding]:
    """Compare the boxes of each track with those of other tracks: boxes of one track share their mistake."""
    data, boxes = evidence.data, evidence.boxes
    instance = data["sample_annotation"]["instance_token"][rows]
    ground = np.column_stack([boxes.centre_m[rows, :2], boxes.bottom_z_m[rows]])
    thinned = np.unique(np.column_stack([np.round(ground[:, :2] / 2), instance]), axis=0, return_index=True)[1]
    if len(thinned) < GROUND_NEIGHBOURS:
        return
    reach, near = _tree(ground[thinned, :2]).query(ground[:, :2], k=GROUND_NEIGHBOURS)
    near = thinned[near]
    other = (instance[near] != instance[:, None]) & (reach < GROUND_REACH_M)
    up = np.clip(boxes.rotation[rows, 2, 2], _STEEPEST_UP, 1.0)
    slope = GROUND_SLOPE + np.sqrt(1.0 - up**2) / up  # a car that leans stands on a hill
    step = np.abs(ground[near, 2] - ground[:, None, 2]) - slope[:, None] * reach
    best = np.where(other, step, np.inf).min(axis=1)
    off = (other.sum(axis=1) >= 3) & (best > GROUND_STEP_M)
    for n in np.flatnonzero(off).tolist():
        row = int(rows[n])
        lower = float(np.median(ground[near[n][other[n]], 2]) - ground[n, 2])
        message = f"box's lower face is {abs(lower):.1f} m {'below' if lower > 0 else 'above'} the ground around it"
        yield box_finding(data, row, "shape.ground", message, below_m=round(lower, 3))


def no_twins(evidence: Evidence) -> Iterator[Finding]:
    """No two boxes of a sample have the same place, except the parts of a corner case."""
    data, boxes = evidence.data, evidence.boxes
    sample = data["sample_annotation"]["sample_token"]
    rows = np.flatnonzero(boxes.usable & ~data.placed & (sample >= 0))
    apart = np.column_stack([boxes.centre_m[rows], sample[rows] * 1e4])
    pairs = _tree(apart).query_pairs(TWIN_M, output_type="ndarray") if len(rows) else np.zeros((0, 2), np.int64)
    for one, other in rows[pairs].tolist():
        distance = float(np.linalg.norm(boxes.centre_m[one] - boxes.centre_m[other]))
        message = f"two boxes {distance:.2f} m apart in one sample"
        yield box_finding(data, one, "shape.twins", message, other=data["sample_annotation"].tokens[other])


def visibility_reported(evidence: Evidence) -> Iterator[Finding]:
    """The visibility level agrees with the share of the object's pixels that are visible, if the tables have both."""
    data = evidence.data
    table = data["sample_annotation"]
    if "uav_amodal_px" not in table or "level" not in data["visibility"]:
        return
    bounds = np.array([_bounds(level) for level in data["visibility"]["level"]] + [(-1.0, 2.0)])
    level = table["visibility_token"]
    amodal, visible = table["uav_amodal_px"], data.visible_px
    share = np.minimum(visible / np.maximum(amodal, 1), 1.0)
    low, high = bounds[level].T
    off = (level >= 0) & (amodal > 0) & (visible >= 0) & ((share < low - 0.005) | (share > high + 0.005))
    for row in np.flatnonzero(off).tolist():
        reported = data["visibility"]["level"][level[row]]
        message = f"visibility {reported}, but {share[row]:.0%} of its pixels are visible"
        yield box_finding(data, row, "shape.visibility", message, share=round(float(share[row]), 4))


def _bounds(level: str) -> tuple[float, float]:
    low, dash, high = level.removeprefix("v").partition("-")
    return (int(low) / 100, int(high) / 100) if dash and low.isdigit() and high.isdigit() else (-1.0, 2.0)


def _tree(points_m: FloatArray) -> Any:
    from scipy.spatial import cKDTree  # slow to import; only the commands that check boxes need it

    return cKDTree(points_m)
