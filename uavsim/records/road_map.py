"""A town's vector map as other rooms and users see it; an installed package reads it (entry points ``uavsim.road_maps``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from uavsim.registry import Registry
from uavsim.typing import BoolArray, FloatArray

__all__ = [
    "LINE_LAYERS",
    "MAP_FILES",
    "MAP_LAYERS",
    "POLYGON_LAYERS",
    "ROAD_MAPS",
    "RoadMap",
    "RoadMapReader",
    "reader_of",
]

POLYGON_LAYERS: Final = (
    "drivable_area", "road_segment", "road_block", "lane", "lane_connector", "ped_crossing", "walkway", "stop_line",
    "carpark_area",
)  # fmt: skip
LINE_LAYERS: Final = ("road_divider", "lane_divider", "traffic_light")
MAP_LAYERS: Final = (*POLYGON_LAYERS, *LINE_LAYERS)


class RoadMap(Protocol):
    """The roads of a town by nuScenes' layers, in the map frame, metres."""

    name: str

    def shapes_map_m(self, layer: str) -> Mapping[str, Sequence[FloatArray]]:
        """Return the shapes of a layer by token, (N, 3) each: of polygons the outer ring, then its holes; or a line."""

    def shapes_near(
        self, layer: str, bounds_map_m: tuple[float, float, float, float]
    ) -> Sequence[Sequence[FloatArray]]:
        """Return the shapes of a layer that a box (west, south, east, north) touches, as ``shapes_map_m`` has them."""

    def centre_lines_map_m(self, *, step_m: float = 1.0) -> Mapping[str, FloatArray]:
        """Return (N, 3) x, y, yaw along each lane and connector by token, no farther than ``step_m`` apart."""

    def lane_at(self, points_map_m: FloatArray) -> list[str | None]:
        """Return the token of the lane, or else of the connector, under each of (N, 2 or 3) points; None beside all of them.

        Of several, one above the other, it is the one whose height is nearest, where the points have heights.
        """

    def is_drivable(self, points_map_m: FloatArray) -> BoolArray:
        """Return (N,) whether vehicles can drive at (N, 2 or 3) points."""

    def border_distance_m(self, points_map_m: FloatArray) -> FloatArray:
        """Return (N,) distances to the nearest border of the drivable area, positive inside."""


RoadMapReader: TypeAlias = Callable[..., RoadMap]
"""``(data: bytes, *, name: str) -> RoadMap``."""

ROAD_MAPS: Final[Registry[RoadMapReader]] = Registry("road_maps", {}, what="map", expects=Callable)
"""Readers by what they read: ``expansion``, nuScenes' map expansion; ``opendrive``, an OpenDRIVE text."""

MAP_FILES: Final[Registry[Callable[[bytes, str, Sequence[str]], dict[str, bytes]]]] = Registry(
    "map_files", {}, what="maker of maps", expects=Callable
)
"""Makers of a dataset's files of a town, by what they make them of: ``(opendrive, town, forms) -> {path: bytes}``."""


def reader_of(form: str) -> RoadMapReader | None:
    """Return the reader of a form of maps; None where no installed package reads it."""
    return ROAD_MAPS.pick(form) if form in ROAD_MAPS.names() else None
