"""Measures of a dataset, counted scene by scene in little memory."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from uavsim.access import Boxes, Dataset, Sample, Scene, simulator_of
from uavsim.records.modalities import DEPTH, INSTANCE
from uavsim.typing import AnyArray, FloatArray

CELL_M: Final = 5.0  # side of a cell of box counts
NEAR_M: Final = 0.5  # samples with smaller motion are near duplicates
_DISTANCES_M: Final = np.array([0, 25, 50, 100, 200])
_MOST_DRAWN: Final = 40  # histograms of random numbers of scenes


@dataclass(slots=True)
class Histogram:
    """Counts of a quantity in fixed bins; the last bin includes larger values."""

    title: str
    unit: str
    edges: FloatArray
    log: bool = False
    counts: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.counts = np.zeros(len(self.edges) - 1)

    def add(self, values: AnyArray) -> None:
        """Count values of any shape; values that are not finite are unknown and left out."""
        values = np.asarray(values, dtype=np.float64)
        finite = np.clip(values[np.isfinite(values)], self.edges[0], self.edges[-1])
        self.counts += np.histogram(finite, bins=self.edges)[0]

    @property
    def total(self) -> int:
        """The number of counted values."""
        return int(self.counts.sum())


@dataclass(slots=True)
class SceneFigures:
    """One row of the table of scenes."""

    name: str
    town: str
    samples: int = 0
    images: int = 0
    boxes: int = 0
    seen_boxes: int = 0
    objects: int = 0
    vehicles_asked: int | None = None
    vehicles_spawned: int | None = None


@dataclass(slots=True)
class TownFigures:
    """Routes of the first drone, (N, 2) in the map frame, metres, and box counts by cell of a town."""

    routes: list[FloatArray] = field(default_factory=list)
    boxes_per_cell: Counter[tuple[int, int]] = field(default_factory=Counter)


def _histograms() -> dict[str, Histogram]:
    return {
        "distance": Histogram("distance to the nearest drone", "m", np.linspace(0.0, 300.0, 31)),
        "pixels": Histogram("size in one image", "visible pixels", np.geomspace(1.0, 100_000.0, 26), log=True),
        "occlusion": Histogram("occlusion in one image", "share hidden", np.linspace(0.0, 1.0, 21)),
        "drones": Histogram("drones that see a box", "drones", np.arange(-0.5, 9.5)),
        "speed": Histogram("speed of an object", "m/s", np.linspace(0.0, 30.0, 31)),
    }


@dataclass(slots=True)
class Measures:
    """All measures of the report."""

    scenes: list[SceneFigures] = field(default_factory=list)
    towns: dict[str, TownFigures] = field(default_factory=dict)
    classes: Counter[str] = field(default_factory=Counter)
    visibility: Counter[int] = field(default_factory=Counter)
    combinations: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    """Boxes by class, start of their distance bin (metres) and visibility level."""
    near_duplicates: int = 0
    weather: Counter[str] = field(default_factory=Counter)
    simulators: Counter[str] = field(default_factory=Counter)
    histograms: dict[str, Histogram] = field(default_factory=_histograms)
    image_sizes: Counter[tuple[int, int]] = field(default_factory=Counter)
    unchecked_masks: int = 0  # images with a mask but without depth
    drawn: dict[str, list[float]] = field(default_factory=dict)  # random numbers of the scenes by key
    channels: set[str] = field(default_factory=set)
    drones: set[int] = field(default_factory=set)
    keyframe_step_s: list[float] = field(default_factory=list)

    @property
    def boxes(self) -> int:
        """All boxes."""
        return sum(scene.boxes for scene in self.scenes)

    @property
    def samples(self) -> int:
        """All keyframes."""
        return sum(scene.samples for scene in self.scenes)

    @property
    def images(self) -> int:
        """All keyframe images."""
        return sum(scene.images for scene in self.scenes)


def measure(data: Dataset) -> Measures:
    """Count everything.

    Raises:
        DatasetError: a table is damaged.
    """
    found = Measures()
    for scene in data:
        _add_scene(found, scene)
    for number, (key, values) in enumerate(sorted(found.drawn.items())[:_MOST_DRAWN]):
        low, high = min(values), max(values)
        edges = np.linspace(low, high, 21) if high > low else np.array([low - 0.5, low + 0.5])
        found.histograms[f"drawn-{number}"] = Histogram(f"drawn for each scene: {key}", key.rpartition(".")[2], edges)
        found.histograms[f"drawn-{number}"].add(np.array(values))
    return found


def _add_scene(found: Measures, scene: Scene) -> None:
    row = SceneFigures(
        scene.name,
        scene.town,
        vehicles_asked=scene.log.get("uav_vehicles_asked"),
        vehicles_spawned=scene.log.get("uav_vehicles_spawned"),
    )
    town = found.towns.setdefault(scene.town, TownFigures())
    objects: set[str] = set()
    before = None
    for sample in scene:
        _add_sample(found, town, sample)
        positions_m = _positions(sample)
        found.near_duplicates += before is not None and _is_near(before, positions_m)
        before = positions_m
        row.samples += 1
        row.images += len(sample.images)
        row.boxes += len(sample.boxes)
        row.seen_boxes += int(np.sum(sample.boxes.visible))
        objects.update(sample.boxes.instance_tokens)
    row.objects = len(objects)
    poses_of = scene.map_SE3_drones()
    if poses_of:
        town.routes.append(poses_of[min(poses_of)].translation_m[:, :2])
    stamps = [sample.timestamp_us for sample in scene]
    if len(stamps) > 1:
        found.keyframe_step_s.append((stamps[-1] - stamps[0]) / 1e6 / (len(stamps) - 1))
    found.simulators[simulator_of(scene.log)] += 1
    found.weather[str(scene.log.get("uav_weather") or "unknown")] += 1
    for key, value in scene.drawn.items():
        found.drawn.setdefault(key, []).append(value)
    found.scenes.append(row)


def _positions(sample: Sample) -> dict[str, FloatArray]:
    """Return the (3,) positions of cameras by channel and of visible objects by instance token, map frame, metres."""
    positions = {image.channel: image.map_SE3_flu.translation_m for image in sample.images}
    boxes = sample.boxes.pick(sample.boxes.visible)
    return positions | dict(zip(boxes.instance_tokens, boxes.map_SE3_box.translation_m, strict=True))


def _is_near(before: dict[str, FloatArray], after: dict[str, FloatArray]) -> bool:
    """Return whether two samples show the same objects, and neither these nor the cameras moved by ``NEAR_M``."""
    return before.keys() == after.keys() and all(np.linalg.norm(after[key] - before[key]) < NEAR_M for key in after)


def _add_sample(found: Measures, town: TownFigures, sample: Sample) -> None:
    boxes = sample.boxes
    for image in sample.images:
        found.image_sizes[image.size_px] += 1
        found.channels.add(image.channel)
        found.unchecked_masks += INSTANCE in image.layers and DEPTH not in image.layers
        found.drones.add(image.drone_id)
    found.classes.update(boxes.categories)
    found.visibility.update(boxes.visibility.tolist())
    if not len(boxes):
        return
    centres_m = boxes.map_SE3_box.translation_m
    cells = np.floor(centres_m[:, :2] / CELL_M).astype(int)
    town.boxes_per_cell.update(map(tuple, cells.tolist()))
    found.histograms["speed"].add(np.linalg.norm(boxes.velocity_map_mps, axis=1))
    positions_m = [image.map_SE3_flu.translation_m for image in sample.images]
    if positions_m:
        drones_m = np.unique(np.round(positions_m, 3), axis=0)
        distance_m = np.linalg.norm(centres_m[:, None] - drones_m[None], axis=-1).min(axis=1)
        found.histograms["distance"].add(distance_m)
        starts_m = _DISTANCES_M[np.digitize(distance_m, _DISTANCES_M) - 1]
        found.combinations.update(zip(boxes.categories, starts_m.tolist(), boxes.visibility.tolist(), strict=True))
    _add_views(found, boxes)


def _add_views(found: Measures, boxes: Boxes) -> None:
    views = [view for box_views in boxes.views for view in box_views]
    if not views:
        return
    visible = np.array([view["visible_px"] for view in views], dtype=np.float64)
    found.histograms["pixels"].add(visible[visible > 0])
    found.histograms["occlusion"].add(np.array([v["occlusion"] for v in views if v["visible_px"] > 0]))
    found.histograms["drones"].add(np.array([len(agents) for agents in boxes.seen_by], dtype=np.float64))
