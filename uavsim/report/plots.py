"""The plots of the report, by matplotlib: SVG that takes the page's text colour, so that it is read by day and by night."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from matplotlib import rc_context
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from uavsim.access import TownMap
from uavsim.errors import DatasetError
from uavsim.images import draw
from uavsim.records.road_map import POLYGON_LAYERS
from uavsim.report.measure import Histogram, TownFigures

__all__ = ["bars", "histogram", "town_map"]

_TEXT: Final = "#010203"  # replaced by the page's own colour
_BAR: Final = "#3b82c4"
_ROUTE: Final = "#e08a1e"
_WIDEST_PX: Final = 900
_PAINT: Final = {
    "lane_divider": "#ffffff",
    "road_divider": "#e6b422",
    "ped_crossing": "#e6b422",
    "stop_line": "#d9483b",
}
_LONGEST_LABEL: Final = 64
_STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _TEXT,
    "axes.labelcolor": _TEXT,
    "axes.edgecolor": _TEXT,
    "xtick.color": _TEXT,
    "ytick.color": _TEXT,
}


def bars(name: str, counts: Mapping[str, int]) -> str:
    """Return horizontal bars, the first at the top, as SVG."""
    rows = [(_fitting(label, n), count) for n, (label, count) in enumerate(counts.items())][::-1]
    with rc_context({**_STYLE, "svg.hashsalt": name, "text.parse_math": False}):  # names of others are no formulas
        figure = Figure(figsize=(5.2, max(0.34 * len(rows) + 0.7, 1.4)), layout="constrained")
        axes = figure.add_subplot()
        drawn = axes.barh([label for label, _ in rows], [count for _, count in rows], color=_BAR)
        axes.bar_label(drawn, labels=[f"{count:,}" for _, count in rows], padding=3, color=_TEXT, fontsize=9)
        axes.margins(x=0.18)
        axes.xaxis.set_visible(False)
        _bare(axes, ("top", "right", "bottom"))
        return _svg(figure, name)


def _fitting(label: str, number: int) -> str:
    """Return a label that leaves room for its bar, unlike all others."""
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 5]}… {number}"


def histogram(name: str, found: Histogram) -> str:
    """Return one histogram as SVG."""
    with rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(5.2, 2.7), layout="constrained")
        axes = figure.add_subplot()
        axes.stairs(found.counts, found.edges, fill=True, color=_BAR)
        if found.log:
            axes.set_xscale("log")
        axes.set_xlabel(found.unit)
        axes.set_ylabel("boxes")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        _bare(axes, ("top", "right"))
        return _svg(figure, name)


def town_map(name: str, town: TownFigures, known: TownMap | None) -> str:
    """Return a town from above as SVG: where vehicles drive, where boxes are, how the first drone of each scene flew."""
    with rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(6.4, 6.0), layout="constrained")
        axes = figure.add_subplot()
        _ground(axes, known)
        if known is not None:
            _roads(axes, known)
        cells = np.array(list(town.boxes_per_cell), dtype=np.float64).reshape(-1, 2)
        if len(cells):
            low, high = cells.min(axis=0).astype(int), cells.max(axis=0).astype(int) + 1
            grid = np.full((high - low)[::-1], np.nan)
            for (x, y), count in town.boxes_per_cell.items():
                grid[y - low[1], x - low[0]] = count
            extent = (*(np.array([low[0], high[0]]) * town.cell_m), *(np.array([low[1], high[1]]) * town.cell_m))
            shown = axes.imshow(
                np.log10(grid), extent=extent, origin="lower", cmap=_heat(), interpolation="nearest", zorder=2
            )
            bar = figure.colorbar(shown, ax=axes, shrink=0.6, label=f"boxes in {town.cell_m:g} m x {town.cell_m:g} m")
            ticks = range(int(np.log10(max(town.boxes_per_cell.values()))) + 1)
            bar.set_ticks(list(ticks), labels=[f"{10**k:,}" for k in ticks])
        for way in town.routes:
            axes.plot(way[:, 0], way[:, 1], color=_ROUTE, linewidth=1.6, zorder=3)
            axes.plot(*way[0], marker="o", markersize=3.5, color=_ROUTE, zorder=4)
        axes.set_aspect("equal")
        axes.set_xlabel("map x, m")
        axes.set_ylabel("map y, m")
        _bare(axes, ("top", "right"))
        return _svg(figure, name)


def _heat() -> Any:
    return LinearSegmentedColormap.from_list("boxes", ["#7fb2e6", "#1f5fa8", "#5b1a8b"])


def _ground(axes: Any, known: TownMap | None) -> None:
    if known is None:
        return
    try:
        drivable = known.drivable()
    except DatasetError:
        return
    height, width = drivable.shape
    scale = min(_WIDEST_PX / max(height, width), 1.0)
    grey = draw.resized(
        np.repeat(drivable[..., None], 3, axis=2).astype(np.uint8) * 255,
        width_px=max(round(width * scale), 1),
        height_px=max(round(height * scale), 1),
    )[..., 0]
    rgba = np.zeros((*grey.shape, 4), dtype=np.uint8)
    rgba[..., :3], rgba[..., 3] = 140, (grey.astype(np.uint16) * 110 // 255).astype(np.uint8)
    x, y = known.origin_map_m
    extent = (x, x + width * known.metres_per_px, y, y + height * known.metres_per_px)
    axes.imshow(rgba, extent=extent, origin="upper", zorder=1)


def _roads(axes: Any, known: TownMap) -> None:
    """Draw the vector map: crossings, stop lines and what is painted between lanes."""
    try:
        roads = known.roads()
    except DatasetError:
        return
    if roads is None:
        return
    for layer, colour in _PAINT.items():
        lines = [part[:, :2] for parts in roads.shapes_map_m(layer).values() for part in parts]
        style = {"facecolors": colour} if layer in POLYGON_LAYERS else {"facecolors": "none", "edgecolors": colour}
        axes.add_collection(PolyCollection(lines, closed=layer in POLYGON_LAYERS, linewidths=0.3, zorder=1.5, **style))


def _bare(axes: Any, sides: Sequence[str]) -> None:
    for side in sides:
        axes.spines[side].set_visible(False)


def _svg(figure: Figure, name: str) -> str:
    """Return the figure as SVG for use inside a page: its ids are its own, its text has the page's colour."""
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace(_TEXT, "currentColor")
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'((?:xlink:)?href="#|url\(#)', rf"\g<1>{name}-", svg)
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
