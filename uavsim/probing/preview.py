"""The preview: all camera images of one sample with boxes and masks, and the swarm on the map, on one page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Image, Scene, open_folder
from uavsim.access.boxes import mask_ids
from uavsim.access.contact_sheet import draw_contact_sheet
from uavsim.access.towns import TownMap
from uavsim.files.scratch import scratch_folder
from uavsim.files.whole import write_whole
from uavsim.flows.command import generate
from uavsim.geometry import pinhole
from uavsim.images import codec, draw, overlay
from uavsim.on_top import ON_TOP
from uavsim.plan.sheet import FAINT, INK, Sheet
from uavsim.run.request import Request
from uavsim.run.resolve import resolve
from uavsim.terminal import Screen
from uavsim.typing import FloatArray, UInt8Array

_MAP_HEIGHT_PX: Final = 1000
_MARGIN_M: Final = 10.0
_REACH_M: Final = 100.0  # a camera at 45 degrees sees ten times farther, but a car there has a few pixels
_ROAD: Final = (205, 203, 198)
_GROUND: Final = (244, 242, 236)
_TINT: Final = 0.15
_BOTTOM: Final = [2, 3, 7, 6]  # corners of a box's lower face in the devkit's order


@dataclass(frozen=True, slots=True)
class Preview:
    """The contents of a preview.

    Attributes:
        scene: name of the scene.
        town: name of its town.
        images: camera images of the sample.
        objects: labelled objects of the sample.
        visible: objects that a camera or lidar sees.
    """

    scene: str
    town: str
    images: int
    objects: int
    visible: int


def write_preview(request: Request, png: Path, *, console: Screen) -> Preview:
    """Fly one sample of the request's first scene in a temporary folder, and write the page.

    Args:
        request: dataset, overrides and simulators; output folder and number of samples are ignored.
        png: path of the image.
        console: shows the progress of the flight.

    Raises:
        InputError: the request is invalid.
        SystemFailure: the simulator fails.
        DatasetError: the sample has no images.
    """
    job = resolve(request, ON_TOP)
    first = job.scenes[0]
    one = {"towns": (first.town,), "scenes": str(first.index), "samples": 1, "check": False}
    with scratch_folder("uavsim-preview-") as folder:
        result = generate(request.model_copy(update=one | {"out": str(folder / "dataset")}), console=console)
        if result.error is not None:
            raise result.error
        dataset = open_folder(folder / "dataset")
        scene = dataset.scene(dataset.scene_names[0])
        sheet = draw_contact_sheet(scene, sample=0)
        town = job.plan_of(first.name).town
        swarm_map = draw_swarm_map(
            scene, dataset.maps.get(scene.town), ground_z_m=town.ground_z_m, size_px=(sheet.shape[1], _MAP_HEIGHT_PX)
        )
        write_whole(png, codec.encode_png(np.concatenate([sheet, swarm_map]), level=2))
        boxes = scene.samples[0].boxes
        return Preview(scene.name, scene.town, len(scene.samples[0].images), len(boxes), int(boxes.visible.sum()))


def draw_swarm_map(scene: Scene, town: TownMap | None, *, ground_z_m: float, size_px: tuple[int, int]) -> UInt8Array:
    """Draw the first sample from above: roads, the cameras' footprints on flat ground, boxes, drones.

    Args:
        scene: an opened scene.
        town: map mask with the roads; None draws no roads.
        ground_z_m: height of the ground in the map frame.
        size_px: width, height of the result.

    Returns:
        (height, width, 3) uint8 RGB; x of the map frame is right, y is up. Boxes have the colours of the masks; invisible
        boxes are grey outlines.
    """
    chosen = scene.samples[0]
    footprints = {image.channel: _footprint(image, ground_z_m=ground_z_m) for image in chosen.images}
    sheet = _sheet(np.concatenate(list(footprints.values())), size_px=size_px)
    if town is not None:
        _draw_roads(sheet, town)
    drones = scene.map_SE3_drones()
    colours = dict(zip(drones, draw.palette(len(drones)), strict=True))
    for image in chosen.images:
        footprint_mask = np.zeros(sheet.canvas.shape[:2], np.uint8)
        draw.draw_polygons(footprint_mask, [sheet.px(footprints[image.channel])], colour=(1, 1, 1))
        colour = colours[image.drone_id]
        sheet.canvas[:] = draw.tinted(sheet.canvas, footprint_mask > 0, colour=colour, strength=_TINT)
    for image in chosen.images:
        draw.draw_polyline(
            sheet.canvas, sheet.px(footprints[image.channel]), colour=colours[image.drone_id], closed=True
        )
    boxes = chosen.boxes
    lower = sheet.px(boxes.corners_map_m[:, _BOTTOM])
    for corners, colour, is_visible in zip(lower, overlay.object_colours(mask_ids(boxes)), boxes.visible, strict=True):
        if is_visible:
            draw.draw_polygons(sheet.canvas, [corners], colour=colour)
        draw.draw_polyline(sheet.canvas, corners, colour=INK if is_visible else FAINT, closed=True)
    for drone, pose in drones.items():
        (x, y), *_ = centre_px = sheet.px(pose[0].translation_m[None])
        draw.draw_circles(sheet.canvas, centre_px, radius_px=8, colour=INK)
        draw.draw_text(sheet.canvas, str(drone), (int(x) + 11, int(y) + 6), colour=INK, height_px=16)
    _draw_scale(sheet, f"{scene.name}, {scene.town}: x right, y up; areas: ground within {_REACH_M:g} m of each camera")
    return sheet.canvas


def _footprint(image: Image, *, ground_z_m: float) -> FloatArray:
    quads: FloatArray = pinhole.ground_footprint(
        image.map_SE3_optical[None],
        intrinsic=image.intrinsic,
        size_px=image.size_px,
        ground_z_m=ground_z_m,
        reach_m=_REACH_M,
    )
    return quads.reshape(4, 2)


def _sheet(points_map_m: FloatArray, *, size_px: tuple[int, int]) -> Sheet:
    """Return a canvas with all (N, 2) points in its centre."""
    low, high = points_map_m.min(axis=0) - _MARGIN_M, points_map_m.max(axis=0) + _MARGIN_M
    scale = float(min(np.array(size_px) / (high - low)))
    half = np.array(size_px) / scale / 2.0
    left, top = ((low + high) / 2.0 + half * [-1.0, 1.0]).tolist()
    canvas = np.full((size_px[1], size_px[0], 3), _GROUND, np.uint8)
    return Sheet(canvas, left, top, scale, (0.0, 0.0))


def _draw_roads(sheet: Sheet, town: TownMap) -> None:
    drivable = town.drivable()
    height_px, width_px = sheet.canvas.shape[:2]
    x_m = sheet.left_m + (np.arange(width_px) + 0.5) / sheet.px_per_m - town.origin_map_m[0]
    y_m = sheet.top_m - (np.arange(height_px) + 0.5) / sheet.px_per_m - town.origin_map_m[1]
    columns = np.floor(x_m / town.metres_per_px).astype(np.int64)
    rows = drivable.shape[0] - 1 - np.floor(y_m / town.metres_per_px).astype(np.int64)
    inside = np.ix_((rows >= 0) & (rows < drivable.shape[0]), (columns >= 0) & (columns < drivable.shape[1]))
    is_road = np.zeros((height_px, width_px), bool)
    is_road[inside] = drivable[np.ix_(rows[inside[0][:, 0]], columns[inside[1][0]])]
    sheet.canvas[is_road] = _ROAD


def _draw_scale(sheet: Sheet, text: str) -> None:
    y = sheet.canvas.shape[0] - 24
    bar = np.array([[24.0, y], [24.0 + 20.0 * sheet.px_per_m, y]])
    draw.draw_polyline(sheet.canvas, bar, colour=INK, width_px=3)
    draw.draw_text(sheet.canvas, f"20 m   {text}", (int(bar[1, 0]) + 10, y + 6), colour=INK, height_px=14)
