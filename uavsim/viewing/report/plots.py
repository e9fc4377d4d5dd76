"""Plots of the report as inline SVG in the page's text colour, legible in light and dark mode."""

import base64
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import numpy as np

from uavsim.access import TownMap
from uavsim.errors import DatasetError
from uavsim.escape import html_text
from uavsim.images import draw
from uavsim.images.codec import encode_png
from uavsim.records.road_map import BUILDINGS, POLYGON_LAYERS
from uavsim.typing import FloatArray
from uavsim.viewing.report.measure import CELL_M, Histogram, TownFigures

_BAR: Final = "#3b82c4"
_ROUTE: Final = "#e08a1e"
_HEAT: Final = ("#7fb2e6", "#5f95cb", "#3f79b1", "#23609f", "#354f9c", "#473598", "#5b1a8b")  # from few boxes to many
_PAINT: Final = {
    BUILDINGS: "#cdbba8",
    "lane_divider": "#ffffff",
    "road_divider": "#e6b422",
    "ped_crossing": "#e6b422",
    "stop_line": "#d9483b",
}
_WIDE: Final = 420.0  # width of bars and histograms; the page scales them
_MAP: Final = 600.0
_WIDEST_PX: Final = 900
_LETTER: Final = 8.0  # largest width of a letter at font size 13
_LABELS: Final = 220.0
_LINE: Final = 18.0
_NARROWEST: Final = 0.2  # least aspect ratio of a map
_LONGEST_LABEL: Final = 64


def bars(name: str, counts: Mapping[str, int]) -> str:
    """Return horizontal bars as SVG, the first at the top."""
    labels = [_fitting(label, n) for n, label in enumerate(counts)]
    left = min(max(map(len, labels)) * _LETTER, _LABELS) + 8
    scale = (_WIDE - left - max(len(f"{count:,}") for count in counts.values()) * _LETTER - 8) / max(
        *counts.values(), 1
    )
    parts = []
    for n, (label, count) in enumerate(zip(labels, counts.values(), strict=True)):
        y, width = 8 + 30 * n, count * scale
        squeezed = f' textLength="{left - 8:g}" lengthAdjust="spacingAndGlyphs"' if len(label) * _LETTER > left else ""
        parts += [
            _text(left - 8, y + 16, label, anchor="end", more=squeezed),
            f'<rect x="{left:g}" y="{y}" width="{width:.1f}" height="22" fill="{_BAR}"/>',
            _text(left + width + 6, y + 16, f"{count:,}"),
        ]
    parts.append(_line(left, 2, left, 30 * len(labels) + 8))
    return _svg(name, _WIDE, 30 * len(labels) + 12, parts)


def _fitting(label: str, number: int) -> str:
    """Return a label, cut to a unique one of 64 characters at most."""
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 5]}… {number}"


def histogram(name: str, data: Histogram) -> str:
    """Return a histogram as SVG."""
    left, top, right, bottom = 70.0, 10.0, _WIDE - 30, 210.0
    most = max(float(data.counts.max()), 5.0)  # marks are whole numbers
    edges = np.log10(data.edges) if data.log else data.edges
    low, high = float(edges[0]), float(edges[-1])

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    def y(count: float) -> float:
        return bottom - count / most * (bottom - top)

    steps = " ".join(
        f"V{y(count):.1f}H{x(end):.1f}" for count, end in zip(data.counts.tolist(), edges[1:].tolist(), strict=True)
    )
    parts = [f'<path d="M{left:g} {bottom:g}{steps}V{bottom:g}Z" fill="{_BAR}"/>']
    if data.log:
        marks = [(x(k), _short(10.0**k)) for k in range(math.ceil(low), math.floor(high) + 1)]
    else:
        marks = _marks(low, high, x)
    parts += _axes((left, top, right, bottom), marks, _marks(0.0, most, y, is_up=True))
    parts += [_text((left + right) / 2, bottom + 42, data.unit, anchor="middle"), _sideways(14, 110, "boxes")]
    return _svg(name, _WIDE, bottom + 50, parts)


def town_map(name: str, town: TownFigures, known: TownMap | None) -> str:
    """Return a map of a town as SVG: drivable area, box counts, and the first drone's route in each scene.

    Args:
        name: id of the SVG element.
        town: routes and box counts.
        known: the map of the town, if the dataset has one.
    """
    ground = _ground(known)
    cells = np.array(list(town.boxes_per_cell), dtype=np.float64).reshape(-1, 2)
    corners = [np.array(ground[1:]).reshape(2, 2)] if ground is not None else []
    corners += [cells * CELL_M, (cells + 1) * CELL_M, *(route[:, :2] for route in town.routes)]
    points = np.concatenate(corners)
    if not len(points):
        return ""
    low, high = points.min(axis=0), points.max(axis=0)
    missing = np.maximum(_NARROWEST * float((high - low).max()) - (high - low), 0)  # room for an axis and its title
    low, high = low - missing / 2, high + missing / 2
    left, top = 80.0, 8.0
    scale = (_MAP - left - 30) / max(float((high - low).max()), 1.0)
    right, bottom = left + scale * float(high[0] - low[0]), top + scale * float(high[1] - low[1])

    def x(value: float) -> float:
        return left + (value - float(low[0])) * scale

    def y(value: float) -> float:
        return bottom - (value - float(low[1])) * scale

    parts = []
    if ground is not None:
        image, x0, y0, x1, y1 = ground
        area = f'x="{x(x0):.1f}" y="{y(y1):.1f}" width="{(x1 - x0) * scale:.1f}" height="{(y1 - y0) * scale:.1f}"'
        parts.append(
            f'<mask id="{name}-ground"><image href="{image}" {area} preserveAspectRatio="none"/></mask>'
            f'<rect {area} fill="currentColor" opacity=".3" mask="url(#{name}-ground)"/>'
        )
    frame = f'<rect x="{left:g}" y="{top:g}" width="{right - left:.1f}" height="{bottom - top:.1f}"/>'
    parts += [f'<clipPath id="{name}-frame">{frame}</clipPath><g clip-path="url(#{name}-frame)">']
    parts += [*_roads(known, x, y), "</g>", *_cells(town, x, y, scale)]
    for route in town.routes:
        line = "L".join(f"{x(px):.1f} {y(py):.1f}" for px, py in route[:, :2].tolist())
        begin = f'<circle cx="{x(float(route[0, 0])):.1f}" cy="{y(float(route[0, 1])):.1f}" r="3.5" fill="{_ROUTE}"/>'
        parts.append(f'<path d="M{line}" fill="none" stroke="{_ROUTE}" stroke-width="2"/>{begin}')
    across, up = _marks(float(low[0]), float(high[0]), x), _marks(float(low[1]), float(high[1]), y, is_up=True)
    parts += _axes((left, top, right, bottom), across, up)
    parts += [_text((left + right) / 2, bottom + 40, "map x, m", anchor="middle")]
    parts += [_sideways(14, (top + bottom) / 2, "map y, m"), *_legend(town, left, bottom + 62)]
    return _svg(name, _MAP, bottom + 98, parts)


def _roads(known: TownMap | None, x: Callable[[float], float], y: Callable[[float], float]) -> Iterable[str]:
    """Yield a path for each layer of the vector map: buildings, crossings, stop lines and dividers."""
    try:
        roads = known.roads() if known is not None else None
    except DatasetError:
        return
    if roads is None:
        return
    for layer, colour in _PAINT.items():
        closed = layer in POLYGON_LAYERS
        lines = [part[:, :2].tolist() for parts in roads.shapes_map_m(layer).values() for part in parts]
        shapes = ("L".join(f"{x(px):.1f} {y(py):.1f}" for px, py in line) for line in lines)
        path = "".join(f"M{shape}{'Z' if closed else ''}" for shape in shapes)
        paint = f'fill="{colour}"' if closed else f'fill="none" stroke="{colour}" stroke-width=".5"'
        yield f'<path d="{path}" {paint}/>'


def _cells(town: TownFigures, x: Callable[[float], float], y: Callable[[float], float], scale: float) -> Iterable[str]:
    """Yield one path of cells for each colour."""
    side = CELL_M * scale
    paths: dict[str, list[str]] = {}
    for (column, row), count in town.boxes_per_cell.items():
        corner = f"M{x(column * CELL_M):.1f} {y((row + 1) * CELL_M):.1f}"
        paths.setdefault(_colour(count, town), []).append(f"{corner}h{side:.1f}v{side:.1f}h-{side:.1f}z")
    yield from (f'<path d="{"".join(cells)}" fill="{colour}"/>' for colour, cells in sorted(paths.items()))


def _colour(count: int, town: TownFigures) -> str:
    most = max(town.boxes_per_cell.values())
    return _HEAT[round(math.log(count) / math.log(most) * (len(_HEAT) - 1)) if most > 1 and count > 0 else 0]


def _legend(town: TownFigures, left: float, y: float) -> Iterable[str]:
    """Yield the legend: each colour once, with its count of boxes in a cell."""
    if not town.boxes_per_cell:
        return
    most = max(town.boxes_per_cell.values())
    counts = {_colour(count, town): count for count in [*(10**k for k in range(int(math.log10(most)) + 1)), most]}
    for n, (colour, count) in enumerate(counts.items()):
        x = left + 70 * n
        yield f'<rect x="{x:g}" y="{y - 11:g}" width="14" height="14" fill="{colour}"/>'
        yield _text(x + 20, y, _short(count))
    yield _text(left, y + 20, f"boxes in {CELL_M:g} m x {CELL_M:g} m")


def _ground(known: TownMap | None) -> tuple[str, float, float, float, float] | None:
    """Return the drivable area as a data URI of a white on black image, and its west, south, east and north end, metres."""
    if known is None:
        return None
    try:
        drivable = known.drivable()
    except DatasetError:
        return None
    height, width = drivable.shape
    scale = min(_WIDEST_PX / max(height, width), 1.0)
    grey = draw.resized(
        np.repeat(drivable[..., None], 3, axis=2).astype(np.uint8) * 255,
        width_px=max(round(width * scale), 1),
        height_px=max(round(height * scale), 1),
    )[..., 0]
    x, y = known.origin_map_m
    packed = base64.b64encode(encode_png(grey, level=9)).decode()
    size = known.metres_per_px
    return f"data:image/png;base64,{packed}", x, y, x + width * size, y + height * size


def _marks(
    low: float, high: float, position: Callable[[float], float], *, is_up: bool = False
) -> list[tuple[float, str]]:
    """Return positions and labels of up to five round numbers on an axis without overlapping labels.

    Args:
        low: begin of the axis.
        high: end of the axis.
        position: position of a number in the plot.
        is_up: whether the axis is vertical.
    """
    marks: list[tuple[float, str]] = []
    for most in (5, 4, 3, 2, 1):
        marks = [(position(value), _short(value)) for value in _ticks(low, high, most)]
        room = _LINE if is_up else (max((len(text) for _, text in marks), default=0) + 1) * _LETTER
        if all(abs(after - before) >= room for (before, _), (after, _) in itertools.pairwise(marks)):
            return marks
    return marks[:1]


def _short(number: float) -> str:
    """Return a number with at most four digits: 1,500, 20k, 1.5M."""
    scale, unit = (1e6, "M") if abs(number) >= 1e6 else (1e3, "k") if abs(number) >= 1e4 else (1.0, "")
    return f"{number / scale:,.4g}{unit}"


def _ticks(low: float, high: float, most: int) -> FloatArray:
    """Return about ``most`` round numbers from low to high."""
    rough = max(high - low, 1e-9) / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * k for k in (1, 2, 5, 10) if size * k >= rough * 0.999)
    return np.round(np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1) * step, 9) + 0.0


def _axes(
    frame: tuple[float, float, float, float], across: list[tuple[float, str]], up: list[tuple[float, str]]
) -> Iterable[str]:
    """Yield the left and bottom axis of a frame (left, top, right, bottom) with their marks."""
    left, top, right, bottom = frame
    yield _line(left, top, left, bottom) + _line(left, bottom, right, bottom)
    for x, label in across:
        yield _line(x, bottom, x, bottom + 5) + _text(x, bottom + 20, label, anchor="middle")
    for y, label in up:
        yield _line(left - 5, y, left, y) + _text(left - 9, y + 4, label, anchor="end")


def _line(x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="currentColor"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html_text(text)}</text>'


def _sideways(x: float, y: float, text: str) -> str:
    return _text(x, y, text, anchor="middle", more=f' transform="rotate(-90 {x:g} {y:g})"')


def _svg(name: str, width: float, height: float, parts: Iterable[str]) -> str:
    """Return an inline SVG element; screen readers read the page's table of numbers."""
    element = f'xmlns="http://www.w3.org/2000/svg" id="{name}" viewBox="0 0 {width:g} {height:g}"'
    style = 'aria-hidden="true" focusable="false" font-size="13" fill="currentColor"'
    return "".join([f"<svg {element} {style}>", *parts, "</svg>"])
