"""Plots are valid SVG with their numbers, and nothing is clipped."""

import itertools
import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from uavsim.access import TownMap
from uavsim.viewing.report import plots
from uavsim.viewing.report.measure import Histogram, Measures, TownFigures

SVG = "{http://www.w3.org/2000/svg}"


def read(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in read(svg).iter(f"{SVG}text")]


def test_bar_lengths_are_proportional_to_counts() -> None:
    svg = plots.bars("b", {"car": 630, "truck": 70, "bus <i>": 0})
    widths = [float(bar.get("width", "")) for bar in read(svg).iter(f"{SVG}rect")]
    assert widths[0] == pytest.approx(9 * widths[1], rel=0.01)
    assert widths[2] == 0
    assert texts(svg) == ["car", "630", "truck", "70", "bus <i>", "0"]


def test_long_label_leaves_room_for_its_bar() -> None:
    svg = plots.bars("b", {"x" * 70 + end: 3 for end in "ab"})
    names = texts(svg)[::2]
    assert len(set(names)) == 2
    assert max(map(len, names)) <= 64
    width = float(read(svg).get("viewBox", "").split()[2])
    for text in read(svg).iter(f"{SVG}text"):
        length = float(text.get("textLength", 8 * len(text.text or "")))
        end = float(text.get("x", "")) + (length if text.get("text-anchor") == "start" else 0)
        assert end <= width
        assert text.get("text-anchor") == "start" or length <= float(text.get("x", ""))


def assert_no_text_covers_another(svg: str) -> None:
    """Check that boxes of texts, 8 units per letter and 13 high, do not overlap or leave the page."""
    page = read(svg)
    _, _, width, height = map(float, page.get("viewBox", "").split())
    boxes = []
    for text in page.iter(f"{SVG}text"):
        x, y, length = float(text.get("x", "")), float(text.get("y", "")), 8.0 * len(text.text or "")
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor", "")] * length
        box = (left, y - 10, left + length, y + 3)
        if text.get("transform"):  # rotated by 90 degrees about its position
            box = (x - 10, y - length / 2, x + 3, y + length / 2)
        boxes.append((text.text, box))
    for name, (x0, y0, x1, y1) in boxes:
        assert x0 >= 0 and y0 >= 0 and x1 <= width and y1 <= height, f"{name} is cut off"  # noqa: PT018
    for (name, a), (other, b) in itertools.combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], f"{name} covers {other}"


@pytest.mark.parametrize("most", [1, 4, 90, 1234, 98_765, 1_750_000, 33_000_000])
def test_histogram_labels_do_not_overlap(most: int) -> None:
    for found in Measures().histograms.values():
        found.counts[:] = np.linspace(0, most, len(found.counts))
        assert_no_text_covers_another(plots.histogram("h", found))
    assert_no_text_covers_another(plots.bars("b", {"car": most, "bus": 0}))


@pytest.mark.parametrize("most", [1, 12, 1_000_000])
@pytest.mark.parametrize("size_m", [(5, 5), (30, 900), (900, 30), (400, 424), (20_000, 16_000), (0, 12_345)])
def test_map_labels_do_not_overlap(size_m: tuple[float, float], most: int) -> None:
    town = TownFigures()
    town.routes.append(np.array([[-8910.0, -5105.0], [-8910.0 + size_m[0], -5105.0 + size_m[1]]]))
    town.boxes_per_cell.update({(-1782, -1021): most})
    assert_no_text_covers_another(plots.town_map("m", town, None))


@pytest.mark.parametrize("log", [False, True])
def test_histogram_heights_are_proportional_to_counts(log: bool) -> None:
    found = Histogram("t", "m", np.geomspace(1, 1000, 4) if log else np.linspace(0, 30, 4), log=log)
    found.add(np.array([2.0, 3.0, 20.0, 1e9]))
    svg = plots.histogram("h", found)
    path = next(read(svg).iter(f"{SVG}path")).get("d", "")
    tops = [210.0 - float(y) for y in re.findall(r"V([\d.]+)H", path)]
    assert np.allclose(np.array(tops) / max(tops), found.counts / found.counts.max(), atol=0.01)
    assert ("1,000" in texts(svg)) == log


def test_map_shows_cells_roads_and_ground_in_place() -> None:
    square = np.array([[0.0, 0.0, 9.0], [2.0, 0.0, 9.0], [2.0, 2.0, 9.0], [0.0, 2.0, 9.0]])
    roads = SimpleNamespace(shapes_map_m=lambda layer: {"a": [square]} if layer == "stop_line" else {})
    ground = SimpleNamespace(
        drivable=lambda: np.array([[True, False], [False, True]]),
        origin_map_m=(-10.0, -20.0),
        metres_per_px=10.0,
        roads=lambda: roads,
    )
    town = TownFigures()
    town.boxes_per_cell.update({(0, 0): 1, (-2, -4): 100})
    town.routes.append(np.array([[0.0, 0.0, 5.0], [10.0, 0.0, 5.0]]))
    svg = plots.town_map("m", town, cast(TownMap, ground))
    page = read(svg)
    (image,) = page.iter(f"{SVG}image")
    left, width = float(image.get("x", "")), float(image.get("width", ""))
    bottom = float(image.get("y", "")) + float(image.get("height", ""))
    few, many = (path for path in page.iter(f"{SVG}path") if path.get("fill") in {plots._HEAT[0], plots._HEAT[-1]})
    corner_px = {path.get("fill"): re.findall(r"M([\d.]+) ([\d.]+)h", path.get("d", ""))[0] for path in (few, many)}
    assert len(corner_px) == 2
    places = sorted((float(x), float(y)) for x, y in corner_px.values())
    per_m = width / 20
    assert places[0] == pytest.approx((left, bottom - 5 * per_m), abs=0.2)
    assert places[1] == pytest.approx((left + 10 * per_m, bottom - 25 * per_m), abs=0.2)
    (stop_line,) = (path.get("d", "") for path in page.iter(f"{SVG}path") if path.get("fill") == "#d9483b")
    ring = np.array(re.findall(r"([\d.]+) ([\d.]+)", stop_line), dtype=np.float64)
    assert np.allclose(np.ptp(ring, axis=0), 2 * per_m, atol=0.2)
    assert texts(svg)[-4:] == ["1", "10", "100", "boxes in 5 m x 5 m"]
    assert plots.town_map("m", TownFigures(), None) == ""
