"""Draw a town from above: roads, routes, formations and the ground in view of the cameras."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from uavsim.config.town import TownConfig
from uavsim.geometry import pinhole
from uavsim.images import draw
from uavsim.plan.numbering import as_text
from uavsim.plan.path import FlightPath
from uavsim.plan.sheet import FAINT, INK, Sheet, blank
from uavsim.records.plan import ScenePlan
from uavsim.records.road_map import BUILDINGS, LINE_LAYERS, RoadMap
from uavsim.terminal import count
from uavsim.typing import FloatArray, UInt8Array

_FEW: Final = 3  # scenes: the ways of more hide each other
_LONGEST_LABEL: Final = 24  # characters
_LONGEST_PX: Final = 1400  # of the town's longer side
_BORDER_PX: Final = 60
_FOOTER_PX: Final = 124
_GROUND: Final = (244, 242, 236)
_ROAD: Final = (205, 203, 198)
_LAYERS: Final[Mapping[str, draw.Colour]] = {
    BUILDINGS: (209, 205, 222),
    "walkway": (230, 222, 212),
    "drivable_area": _ROAD,
    "ped_crossing": (238, 214, 140),
    "stop_line": (226, 150, 140),
    "lane_divider": (250, 250, 248),
    "road_divider": (236, 206, 120),
}
_OBSTACLE: Final = (222, 196, 176)
_ROUTE: Final = (120, 128, 140)
_REACH_M: Final = 100.0  # cameras at 45 degrees see ten times farther, where a car is a few pixels
_TINT: Final = 0.13


def draw_plan(
    town: TownConfig,
    routes: Mapping[str, FlightPath],
    plans: Sequence[ScenePlan],
    *,
    roads: Sequence[FloatArray] | RoadMap = (),
) -> UInt8Array:
    """Draw one town's plan.

    Args:
        town: bounds and obstacles of the town.
        routes: routes to draw as thin lines, by name.
        plans: scenes of this town. Up to three scenes are drawn with paths, start positions and camera footprints; more
            scenes are drawn as routes with scene numbers and starts.
        roads: (N, 2 or 3) outlines in the map frame, metres, or the vector map; empty without a map.

    Returns:
        (H, W, 3) uint8 RGB image.
    """
    sheet = _blank(town)
    _draw_roads(sheet, roads)
    for obstacle in town.obstacles:
        (x0, x1), (y0, y1) = obstacle.x_m, obstacle.y_m
        corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
        draw.draw_polygons(sheet.canvas, [sheet.px(corners)], colour=_OBSTACLE)
    _draw_ends(sheet, town)
    few = plans if len(plans) <= _FEW else ()
    colours = _colours(len(few))
    for plan, colour in zip(few, colours, strict=True):
        _tint_footprints(sheet, plan, colour=colour)
    for (name, path), colour in zip(
        routes.items(), [_ROUTE] * len(routes) if few else _colours(len(routes)), strict=True
    ):
        starts = [] if few else [plan for plan in plans if plan.route_name == name]
        _draw_route(sheet, path, label=name.removeprefix(f"{town.short_name}_"), colour=colour, scenes=starts)
    for plan, colour in zip(few, colours, strict=True):
        _draw_scene(sheet, plan, colour=colour)
    _draw_footer(sheet, town, plans, roads=roads)
    return sheet.canvas


def _draw_roads(sheet: Sheet, roads: Sequence[FloatArray] | RoadMap) -> None:
    if isinstance(roads, Sequence):
        for road in roads:
            draw.draw_polygons(sheet.canvas, [sheet.px(road)], colour=_ROAD)
        return
    for layer, colour in _LAYERS.items():
        for rings in roads.shapes_map_m(layer).values():
            pixels = [sheet.px(ring[:, :2]) for ring in rings]
            if layer in LINE_LAYERS:
                draw.draw_polyline(sheet.canvas, pixels[0], colour=colour)
            else:
                draw.draw_even_odd(sheet.canvas, pixels, colour=colour)


def _blank(town: TownConfig) -> Sheet:
    width_m, height_m = town.x_m[1] - town.x_m[0], town.y_m[1] - town.y_m[0]
    scale = _LONGEST_PX / max(width_m, height_m)
    width_px = max(round(width_m * scale), 640) + 2 * _BORDER_PX
    canvas = blank(width_px, round(height_m * scale) + 2 * _BORDER_PX + _FOOTER_PX, colour=_GROUND)
    return Sheet(canvas, town.x_m[0], town.y_m[1], scale, (_BORDER_PX, _BORDER_PX))


def _draw_ends(sheet: Sheet, town: TownConfig) -> None:
    (x0, x1), (y0, y1), m = town.x_m, town.y_m, town.margin_m
    ends = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    inner = np.array([[x0 + m, y0 + m], [x1 - m, y0 + m], [x1 - m, y1 - m], [x0 + m, y1 - m]])
    draw.draw_polyline(sheet.canvas, sheet.px(ends), colour=INK, width_px=2, closed=True)
    draw.draw_polyline(sheet.canvas, sheet.px(inner), colour=FAINT, closed=True)


def _colours(number: int) -> list[draw.Colour]:
    """Return colours that are dark enough for lines on the ground."""
    return [(r * 3 // 4, g * 3 // 4, b * 3 // 4) for r, g, b in draw.palette(number)]


def _draw_route(
    sheet: Sheet, path: FlightPath, *, label: str, colour: draw.Colour, scenes: Sequence[ScenePlan]
) -> None:
    """Draw a route; a route with scenes is bold, with scene numbers in its middle and a dot at each start."""
    line = sheet.px(path.position_m[:, :2])
    draw.draw_polyline(sheet.canvas, line, colour=colour, width_px=3 if scenes else 1, closed=path.closed)
    if not scenes:
        draw.draw_circles(sheet.canvas, line[:1], radius_px=3, colour=colour)
        x, y = line[0]
        draw.draw_text(sheet.canvas, label, (int(x) + 8, int(y) + 18), colour=colour, height_px=9)
        return
    draw.draw_circles(
        sheet.canvas,
        sheet.px(np.stack([s.swarm.map_SE3_flu.translation_m[0, 0] for s in scenes])),
        radius_px=6,
        colour=colour,
    )
    x, y = (line.min(axis=0) + line.max(axis=0)) / 2
    numbers = as_text([scene.scene_index for scene in scenes])
    scenes_label = numbers if len(numbers) <= _LONGEST_LABEL else count(len(scenes), "scene")
    for text, below_px in ((label, -4), (scenes_label, 16)):
        at_px = (int(x) - 4 * len(text), int(y) + below_px)
        draw.draw_text(sheet.canvas, text, at_px, colour=INK, height_px=13, background=_GROUND)


def _tint_footprints(sheet: Sheet, plan: ScenePlan, *, colour: draw.Colour) -> None:
    """Tint the cameras' footprints at the first image, up to ``_REACH_M``."""
    footprint_mask = np.zeros(sheet.canvas.shape[:2], dtype=np.uint8)
    draw.draw_polygons(footprint_mask, [sheet.px(quad) for quad in _footprints(plan)], colour=(1, 1, 1))
    sheet.canvas[:] = draw.tinted(sheet.canvas, footprint_mask > 0, colour=colour, strength=_TINT)


def _draw_scene(sheet: Sheet, plan: ScenePlan, *, colour: draw.Colour) -> None:
    """Draw each drone's path, and at the first image the formation and the view of the ego's cameras."""
    places = plan.swarm.map_SE3_flu.translation_m[:, :, :2]
    for quad in _footprints(plan)[:: places.shape[1]]:
        draw.draw_polyline(sheet.canvas, sheet.px(quad), colour=_mixed(colour), closed=True)
    for drone in range(places.shape[1]):
        draw.draw_polyline(sheet.canvas, sheet.px(places[:, drone]), colour=colour, width_px=2)
    start = sheet.px(places[0])
    draw.draw_circles(sheet.canvas, start, radius_px=5, colour=colour)
    for drone, (x, y) in zip(plan.swarm.drone_ids, start, strict=True):
        draw.draw_text(sheet.canvas, str(drone), (int(x) + 6, int(y) + 4), colour=INK, height_px=10)
    x, y = start[0]
    draw.draw_text(sheet.canvas, plan.scene_name, (int(x) + 6, int(y) - 8), colour=colour, height_px=11)


def _footprints(plan: ScenePlan) -> FloatArray:
    """Return (cameras x drones, 4, 2) footprint corners at the first image, map frame, metres, camera by camera."""
    map_SE3_flu = plan.swarm.map_SE3_flu[0]
    quads = []
    for spec in plan.cameras:
        camera = spec.camera.rendered
        quads.append(
            pinhole.ground_footprint(
                map_SE3_flu @ spec.flu_SE3_sensor,
                intrinsic=camera.intrinsic,
                size_px=(camera.width_px, camera.height_px),
                ground_z_m=plan.town.ground_z_m,
                reach_m=_REACH_M,
            )
        )
    return np.concatenate(quads)


def _mixed(colour: draw.Colour) -> draw.Colour:
    """Return the mean of a colour and the ground's colour."""
    r, g, b = ((channel + ground) // 2 for channel, ground in zip(colour, _GROUND, strict=True))
    return r, g, b


def _draw_footer(
    sheet: Sheet, town: TownConfig, plans: Sequence[ScenePlan], *, roads: Sequence[FloatArray] | RoadMap
) -> None:
    height = sheet.canvas.shape[0]
    sheet.canvas[height - _FOOTER_PX :] = _GROUND
    what = f"{town.name}: {count(len(plans), 'scene')}" + (f" of {plans[0].dataset}" if plans else "")
    missing = "   no roads: give the town's map with --xodr FILE" if roads == [] or roads == () else ""
    draw.draw_text(sheet.canvas, what + missing, (_BORDER_PX, height - 90), colour=INK, height_px=14)
    buildings = not isinstance(roads, Sequence) and bool(roads.shapes_map_m(BUILDINGS))
    _draw_legend(sheet, plans, y=height - 34, buildings=buildings)
    step_m = _round_length(120 / sheet.px_per_m)
    x0, y = _BORDER_PX, height - 62
    tint_note = f"tint: seen by cameras within {_REACH_M:g} m"
    end = x0 + step_m * sheet.px_per_m
    draw.draw_polyline(sheet.canvas, np.array([[x0, y], [end, y]]), colour=INK, width_px=3)
    draw.draw_text(
        sheet.canvas,
        f"{step_m:g} m   x right, y up (map frame)" + (f"   {tint_note}" if len(plans) <= _FEW else ""),
        (int(end) + 8, y + 4),
        colour=INK,
    )


def _draw_legend(sheet: Sheet, plans: Sequence[ScenePlan], *, y: int, buildings: bool) -> None:
    """Draw the legend."""
    if len(plans) > _FEW:
        ways = "routes with the numbers of their scenes, dots: start of each"
    else:
        ways = f"paths of {plans[0].scene_name if plans else 'a scene'}, dots: start"
    x = _BORDER_PX
    for colour, text in (
        (_ROAD, "road"),
        *([(_LAYERS[BUILDINGS], "building")] if buildings else []),
        (_OBSTACLE, "obstacle"),
        *([(_ROUTE, "route")] if len(plans) <= _FEW else []),
        (_colours(1)[0], ways),
    ):
        square = np.array([[x, y - 6], [x + 12, y - 6], [x + 12, y + 6], [x, y + 6]], dtype=np.float64)
        draw.draw_polygons(sheet.canvas, [square], colour=colour)
        draw.draw_text(sheet.canvas, text, (x + 18, y + 4), colour=INK)
        x += 34 + 9 * len(text)


def _round_length(length_m: float) -> float:
    """Return the largest of 1, 2, 5, 10, 20, ... that does not exceed a length, metres."""
    power = 10.0 ** np.floor(np.log10(length_m))
    return float(power * max(m for m in (1, 2, 5) if m * power <= length_m * (1 + 1e-9)))
