"""Draw encounters: from above, range over time, and the track across the camera's image."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from uavsim.images import draw
from uavsim.ingredients.intruders.intruder_plans import IntruderPlan, intruders_of
from uavsim.ingredients.intruders.sight import Sighting, sighting
from uavsim.plan.sheet import FAINT, INK, Sheet, blank
from uavsim.records.plan import ScenePlan
from uavsim.typing import BoolArray, UInt8Array

_PANEL_PX: Final = 340
_GAP_PX: Final = 46
_TOP_PX: Final = 34
_GROUND: Final = (250, 249, 246)
_OWN: Final = (36, 92, 168)
_OTHER: Final = (200, 70, 40)


def draw_encounters(plans: Sequence[ScenePlan]) -> UInt8Array:
    """Draw one row for each encounter: from above, range over time, and the camera's image.

    Args:
        plans: scenes; those without an intruder are left out.

    Returns:
        (H, W, 3) RGB image.
    """
    rows = [(plan, intruder) for plan in plans for intruder in intruders_of(plan)]
    height_px = _GAP_PX + max(len(rows), 1) * (_TOP_PX + _PANEL_PX + _GAP_PX)
    canvas = blank(3 * _PANEL_PX + 4 * _GAP_PX, height_px, colour=_GROUND)
    for index, (plan, intruder) in enumerate(rows):
        _draw_row(canvas, plan, intruder, top=_GAP_PX + index * (_TOP_PX + _PANEL_PX + _GAP_PX))
    return canvas


def _draw_row(canvas: UInt8Array, plan: ScenePlan, intruder: IntruderPlan, *, top: int) -> None:
    view = sighting(plan, intruder)
    course = "collision course" if intruder.collision_course else "no collision course"
    lasts_s = intruder.cpa_s - intruder.begin_s
    title = (
        f"{plan.scene_name}  {intruder.name}, {intruder.path}: begins at {intruder.range_m:.0f} m, closing at "
        f"{intruder.closing_mps:.0f} m/s; passes at {intruder.cpa_m:.0f} m after {lasts_s:.0f} s; {course}"
    )
    draw.draw_text(canvas, title, (_GAP_PX, top + 12), colour=INK, height_px=13)
    lefts = [_GAP_PX + i * (_PANEL_PX + _GAP_PX) for i in range(3)]
    _from_above(canvas, plan, intruder, view, corner=(lefts[0], top + _TOP_PX))
    _range_over_time(canvas, intruder, view, corner=(lefts[1], top + _TOP_PX))
    _across_the_image(canvas, plan, intruder, view, corner=(lefts[2], top + _TOP_PX))


def _frame(canvas: UInt8Array, corner: tuple[int, int], size: tuple[float, float], caption: str) -> None:
    (x, y), (w, h) = corner, size
    draw.draw_polyline(canvas, np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]]), colour=FAINT, closed=True)
    draw.draw_text(canvas, caption, (x, int(y + h) + 16), colour=INK, height_px=11)


def _from_above(
    canvas: UInt8Array, plan: ScenePlan, intruder: IntruderPlan, view: Sighting, *, corner: tuple[int, int]
) -> None:
    """Draw both paths from above, north up; a dot at the start, a ring at the closest approach."""
    drone_m = plan.swarm.map_SE3_flu.translation_m[:, plan.swarm.drone_ids.index(intruder.drone_id), :2]
    intruder_m = intruder.map_SE3_flu.translation_m[:, :2]
    both = np.concatenate([drone_m, intruder_m])
    low, high = both.min(axis=0), both.max(axis=0)
    scale = (_PANEL_PX - 24) / max(float((high - low).max()), 1.0)
    aside_m = (_PANEL_PX / scale - (high - low)) / 2.0
    panel = Sheet(canvas, float(low[0] - aside_m[0]), float(high[1] + aside_m[1]), scale, corner)
    nearest = int(np.argmin(np.abs(view.time_s - intruder.cpa_s)))
    begin = int(np.argmin(np.abs(view.time_s - intruder.begin_s)))
    for path_m, colour in ((intruder_m, _OTHER), (drone_m, _OWN)):
        draw.draw_polyline(canvas, panel.px(path_m), colour=colour, width_px=2)
        draw.draw_circles(canvas, panel.px(path_m[[begin]]), radius_px=5, colour=colour)
        draw.draw_circles(canvas, panel.px(path_m[[nearest]]), radius_px=3, colour=INK)
    _frame(
        canvas, corner, (_PANEL_PX, _PANEL_PX), f"from above, {_PANEL_PX / scale:.0f} m wide; blue: the camera drone"
    )


def _range_over_time(canvas: UInt8Array, intruder: IntruderPlan, view: Sighting, *, corner: tuple[int, int]) -> None:
    """Draw the range over time; in strong colour while the intruder is inside the image."""
    longest, last = float(view.range_m.max()) * 1.05, float(view.time_s[-1])
    points = np.stack([view.time_s / last * _PANEL_PX, _PANEL_PX * (1.0 - view.range_m / longest)], axis=1)
    points += np.array(corner)
    draw.draw_polyline(canvas, points, colour=FAINT, width_px=2)
    for run in _runs(view.in_image):
        draw.draw_polyline(canvas, points[run], colour=_OTHER, width_px=3)
    x = corner[0] + intruder.cpa_s / last * _PANEL_PX
    draw.draw_polyline(canvas, np.array([[x, corner[1]], [x, corner[1] + _PANEL_PX]]), colour=INK)
    _frame(canvas, corner, (_PANEL_PX, _PANEL_PX), f"range, 0 to {longest:.0f} m, over {last:.0f} s; red: in the image")


def _across_the_image(
    canvas: UInt8Array, plan: ScenePlan, intruder: IntruderPlan, view: Sighting, *, corner: tuple[int, int]
) -> None:
    """Draw the track across the camera's image with the intruder's size; with the horizon if the camera looks level."""
    spec = next(spec for spec in plan.cameras if spec.name == intruder.camera)
    scale = _PANEL_PX / max(spec.camera.width_px, spec.camera.height_px)
    size = (spec.camera.width_px * scale, spec.camera.height_px * scale)
    for run in _runs(view.in_image):
        draw.draw_polyline(canvas, view.pixel[run] * scale + np.array(corner), colour=_OTHER, width_px=2)
    inside = np.flatnonzero(view.in_image)
    if len(inside):
        first = view.pixel[inside[:1]] * scale + np.array(corner)
        draw.draw_circles(canvas, first, radius_px=5, colour=_OTHER)
    share = f"in {100 * view.in_image.mean():.0f} % of the flight"
    _frame(canvas, corner, size, f"camera {spec.name}, {spec.camera.width_px}x{spec.camera.height_px}; {share}")


def _runs(rows: BoolArray) -> list[slice]:
    """Return the runs of at least two true values in (K,) bool."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(rows, dtype=np.int8), [0]])))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a >= 2]
