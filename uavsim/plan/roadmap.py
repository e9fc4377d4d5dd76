"""Roads of an OpenDRIVE file as lines for an image: reference lines and how wide the road is beside them.

A reader of the plan view alone (line, arc, spiral, poly3, paramPoly3); it feeds no label. Source: ASAM OpenDRIVE 1.4,
"Road plan view".
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import numpy as np

from uavsim.config.load import shown
from uavsim.errors import InputError
from uavsim.typing import FloatArray

_STEP_M: Final = 2.0
_LARGEST_BYTES: Final = 200_000_000


@dataclass(frozen=True, slots=True, eq=False)
class DrawnRoad:
    """One road: (N, 2) reference line in the map frame, and the widths of its driving lanes left and right of it."""

    line_m: FloatArray
    left_m: float
    right_m: float

    @property
    def outline_m(self) -> FloatArray:
        """(2 N, 2) polygon of what can be driven on."""
        along = np.gradient(self.line_m, axis=0)
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        to_left = np.stack([-along[:, 1], along[:, 0]], axis=1)
        return np.concatenate([self.line_m + to_left * self.left_m, (self.line_m - to_left * self.right_m)[::-1]])


def read_roads(path: Path) -> list[DrawnRoad]:
    """Read the roads of an OpenDRIVE file.

    Raises:
        InputError: no such file, not OpenDRIVE, or numbers that are none.
    """
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise InputError(f"{shown(path)}: larger than {_LARGEST_BYTES // 1_000_000} MB: not a town's map")
        data = path.read_bytes()
        if b"<!ENTITY" in data[:100_000]:
            raise InputError(f"{shown(path)}: entities in XML are not read")
        root = ElementTree.fromstring(data)
        roads = [_road(element) for element in root.iter("road")]
    except OSError as error:
        raise InputError(f"{shown(path)}: cannot be read: {error.strerror}") from error
    except ElementTree.ParseError as error:
        raise InputError(f"{shown(path)}: not OpenDRIVE: {error}") from error
    except (KeyError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise InputError(f"{shown(path)}: not OpenDRIVE: a road without its numbers ({error})") from error
    if not roads:
        raise InputError(f"{shown(path)}: holds no road")
    return roads


def _road(element: ElementTree.Element) -> DrawnRoad:
    pieces = [_piece(geometry) for geometry in element.iterfind("planView/geometry")]
    if not pieces:
        raise ValueError("no plan view")
    return DrawnRoad(np.concatenate(pieces), _width(element, "left"), _width(element, "right"))


def _width(road: ElementTree.Element, side: str) -> float:
    lanes = road.iterfind(f"lanes/laneSection/{side}/lane")
    sections: list[float] = [float(lane.find("width").get("a", 0)) for lane in lanes if _drives(lane)]  # type: ignore[union-attr]
    count = max(1, len(road.findall("lanes/laneSection")))
    return min(sum(sections) / count, 40.0)


def _drives(lane: ElementTree.Element) -> bool:
    return lane.get("type") in {"driving", "parking", "bidirectional"} and lane.find("width") is not None


def _piece(geometry: ElementTree.Element) -> FloatArray:
    x, y, heading, length = (float(geometry.attrib[key]) for key in ("x", "y", "hdg", "length"))
    if not (np.isfinite([x, y, heading, length]).all() and 0.0 <= length < 1e5):
        raise ValueError(f"length {length}")
    s = np.linspace(0.0, length, max(2, int(np.ceil(length / _STEP_M)) + 1))
    shape = next((child for child in geometry if child.tag in _SHAPES), None)
    if shape is None:
        raise ValueError("geometry of no known kind")
    u, v = _SHAPES[shape.tag](shape, s)
    return np.stack(
        [x + u * np.cos(heading) - v * np.sin(heading), y + u * np.sin(heading) + v * np.cos(heading)], axis=1
    )


def _line(_: ElementTree.Element, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    return s, np.zeros_like(s)


def _arc(shape: ElementTree.Element, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    return _bent(s, np.full_like(s, float(shape.attrib["curvature"])))


def _spiral(shape: ElementTree.Element, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    return _bent(s, np.linspace(float(shape.attrib["curvStart"]), float(shape.attrib["curvEnd"]), len(s)))


def _bent(s: FloatArray, curvature: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Integrate a curvature that is linear along the line, 16 times finer than it is drawn."""
    fine = np.linspace(0.0, s[-1], (len(s) - 1) * 16 + 1)
    bend = np.interp(fine, s, curvature)
    ds = fine[1] - fine[0] if len(fine) > 1 else 0.0
    heading = np.concatenate([[0.0], np.cumsum((bend[1:] + bend[:-1]) / 2.0 * ds)])
    middle = (heading[1:] + heading[:-1]) / 2.0
    u = np.concatenate([[0.0], np.cumsum(np.cos(middle) * ds)])
    v = np.concatenate([[0.0], np.cumsum(np.sin(middle) * ds)])
    return u[::16], v[::16]


def _poly3(shape: ElementTree.Element, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    return s, np.asarray(np.polyval([float(shape.attrib[key]) for key in "dcba"], s), dtype=np.float64)


def _param_poly3(shape: ElementTree.Element, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    p = s / s[-1] if shape.get("pRange", "normalized") == "normalized" and s[-1] > 0 else s
    u = np.polyval([float(shape.attrib[f"{key}U"]) for key in "dcba"], p)
    return u, np.polyval([float(shape.attrib[f"{key}V"]) for key in "dcba"], p)


_SHAPES: Final[dict[str, Callable[[ElementTree.Element, FloatArray], tuple[FloatArray, FloatArray]]]] = {
    "line": _line,
    "arc": _arc,
    "spiral": _spiral,
    "poly3": _poly3,
    "paramPoly3": _param_poly3,
}
