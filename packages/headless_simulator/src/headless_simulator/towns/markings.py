"""Painted lines: lane marks, stop lines and crosswalks, as quads slightly above the road."""

from typing import Final

import numpy as np

from headless_simulator.scene import MATTE, TAG, Float64
from headless_simulator.towns.network import Mark, Network
from headless_simulator.towns.strips import RAISED, Strip, lift_m
from headless_simulator.towns.triangle_soup import RGB, Appearance, TriangleSoup

LIFT_M: Final = 0.015
WHITE: Final[RGB] = (205, 205, 200)
_DASHES_M: Final = (3.0, 4.5)  # dash and gap
_BESIDE_KERB_M: Final = 0.25
_RGB: Final[dict[str, RGB]] = {
    "yellow": (196, 158, 52),
    "white": WHITE,
    "red": (176, 60, 50),
    "blue": (60, 90, 170),
}
_DOUBLE_M: Final = 0.13  # half the distance between double lines


def paint_marks(triangle_soup: TriangleSoup, strips: list[Strip], network: Network) -> None:
    """Add the lane marks of all roads outside junctions."""
    for strip in strips:
        if strip.junction:
            continue
        _border(triangle_soup, strip, _on_road(strip), strip.record.marks)
        if abs(strip.lane) == 1:
            lanes = network.roads[strip.road].sections[strip.section].lanes
            other_side = -strip.lane in lanes
            if 0 in lanes and (strip.lane < 0 or not other_side):
                _border(triangle_soup, strip, strip.inner_m, lanes[0].marks)


def _on_road(strip: Strip) -> Float64:
    """Return the (N, 3) border of a strip's painted line: for a raised strip, on the road beside the kerb."""
    if strip.kind not in RAISED:
        return strip.outer_m
    side = strip.outer_m - strip.inner_m
    side = side / np.maximum(np.linalg.norm(side[:, :2], axis=1, keepdims=True), 1e-6) * _BESIDE_KERB_M
    down = lift_m(strip.record, strip.s - strip.start_s)[:, None] * (0.0, 0.0, 1.0)
    return np.asarray(strip.outer_m + side - down, dtype=np.float64)


def _border(triangle_soup: TriangleSoup, strip: Strip, line: Float64, marks: tuple[Mark, ...]) -> None:
    ends = [*(strip.start_s + mark.s_offset for mark in marks[1:]), float(strip.s[-1])][: len(marks)]
    spans: list[tuple[Mark, float, float]] = []
    for mark, end in zip(marks, ends, strict=True):
        start = strip.start_s + mark.s_offset
        if spans and spans[-1][0].kind == mark.kind and spans[-1][0].colour == mark.colour:
            spans[-1] = (spans[-1][0], spans[-1][1], end)
        else:
            spans.append((mark, start, end))
    for mark, start, end in spans:
        low, high = max(start, float(strip.s[0])), min(end, float(strip.s[-1]))
        if high - low > 0.3 and mark.kind not in ("none", "curb", "grass", "edge", "custom"):
            paint_line(triangle_soup, strip, line, mark, (low, high))


def paint_line(
    triangle_soup: TriangleSoup,
    strip: Strip,
    line: Float64,
    mark: Mark,
    span: tuple[float, float] | None = None,
    *,
    dash_m: tuple[float, float] = _DASHES_M,
) -> None:
    """Add one line along a border of a strip.

    Args:
        triangle_soup: receives the triangles.
        strip: the strip of the border.
        line: (N, 3) border, metres.
        mark: kind of line.
        span: first and last station; None: the whole strip.
        dash_m: dash and gap of a broken line.
    """
    span = span or (float(strip.s[0]), float(strip.s[-1]))
    dash, gap = dash_m
    parts = mark.kind.split()
    shifts = [0.0] if len(parts) == 1 else [-_DOUBLE_M, _DOUBLE_M]
    appearance = Appearance(_RGB.get(mark.colour, _RGB["white"]), TAG["road_line"], MATTE)
    width = float(np.clip(mark.width_m, 0.12, 0.3))
    for part, shift in zip(parts[:2], shifts, strict=True):
        if part == "broken":
            starts = np.arange(span[0], span[1] - 0.5, dash + gap)
            stations = np.stack([starts, np.minimum(starts + dash, span[1])], axis=1)
            ends = _across(strip, line, stations.reshape(-1), shift, width).reshape(-1, 2, 2, 3)
            triangle_soup.quads(
                np.stack([ends[:, 0, 0], ends[:, 1, 0], ends[:, 1, 1], ends[:, 0, 1]], axis=1), appearance
            )
        else:
            inner = strip.s[(strip.s > span[0] + 0.01) & (strip.s < span[1] - 0.01)]
            pair = _across(strip, line, np.concatenate([[span[0]], inner, [span[1]]]), shift, width)
            triangle_soup.ribbon(pair[:, 0], pair[:, 1], appearance)


def _across(strip: Strip, line: Float64, s: Float64, shift_m: float, width_m: float) -> Float64:
    """Return (N, 2, 3) edges of a painted line at N stations, slightly above the road."""
    at = np.stack([np.interp(s, strip.s, line[:, axis]) for axis in range(3)], axis=1)
    side = strip.outer_m - strip.inner_m
    side = side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-9)
    across = np.stack([np.interp(s, strip.s, side[:, axis]) for axis in range(3)], axis=1)
    lifted = at + (0.0, 0.0, LIFT_M)
    return np.stack([lifted + across * (shift_m - width_m / 2), lifted + across * (shift_m + width_m / 2)], axis=1)


def paint_stop_line(triangle_soup: TriangleSoup, pose: Float64, width_m: float) -> None:
    """Add a stop line across a lane at a pose (x, y, z, pitch, yaw, roll)."""
    yaw = np.radians(pose[4])
    ahead, right = np.array([np.cos(yaw), np.sin(yaw), 0.0]), np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    ahead[2] = np.tan(np.radians(pose[3]))
    middle = pose[:3] + (0.0, 0.0, LIFT_M)
    a, b = middle - right * width_m / 2, middle + right * width_m / 2
    triangle_soup.quads(
        np.array([[a, b, b + 0.45 * ahead, a + 0.45 * ahead]]), Appearance(_RGB["white"], TAG["road_line"])
    )


def bounding_rectangle(outline: Float64) -> Float64:
    """Return (4, 2) corners of the smallest rectangle around (N, 2) points parallel to one of their edges, long side first."""
    edges = np.diff(np.concatenate([outline, outline[:1]]), axis=0)
    best: tuple[float, Float64] | None = None
    for edge in edges[np.linalg.norm(edges, axis=1) > 0.05]:
        u = edge / np.linalg.norm(edge)
        axes = np.stack([u, [-u[1], u[0]]])
        local = outline @ axes.T
        low, high = local.min(axis=0), local.max(axis=0)
        area = float(np.prod(high - low))
        if best is None or area < best[0] - 1e-9:
            if high[0] - low[0] >= high[1] - low[1]:
                corners = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
            else:
                corners = np.array([[high[0], low[1]], high, [low[0], high[1]], low])
            best = (area, corners @ axes)
    if best is None:
        return np.repeat(outline[:1], 4, axis=0)
    return best[1]


def paint_crosswalk(triangle_soup: TriangleSoup, outline_m: Float64) -> None:
    """Add the bars of a crosswalk with an (N, 3) outline, parallel to its short side."""
    corners = bounding_rectangle(outline_m[:, :2])
    length = float(np.linalg.norm(corners[1] - corners[0]))
    starts = np.arange(0.3, max(length - 0.5, 0.31), 1.0)
    shares = np.stack([starts, np.minimum(starts + 0.5, length)], axis=1) / max(length, 1e-6)
    near = corners[0] + shares[..., None] * (corners[1] - corners[0])
    far = corners[3] + shares[..., None] * (corners[2] - corners[3])
    flat = np.stack([near[:, 0], near[:, 1], far[:, 1], far[:, 0]], axis=1)
    plane = np.linalg.lstsq(np.c_[outline_m[:, :2], np.ones(len(outline_m))], outline_m[:, 2], rcond=None)[0]
    height = flat @ plane[:2] + plane[2] + LIFT_M
    triangle_soup.quads(np.concatenate([flat, height[..., None]], axis=-1), Appearance(_RGB["white"], TAG["road_line"]))
