"""The interface of a town's vector map; installed packages read maps (entry points ``uavsim.road_maps``)."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from uavsim.typing import BoolArray, FloatArray

BUILDINGS: Final = "building"
"""An optional layer beside nuScenes': footprints of buildings, with rings at the height of the roof."""
POLYGON_LAYERS: Final = (
    "drivable_area", "road_segment", "road_block", "lane", "lane_connector", "ped_crossing", "walkway", "stop_line",
    "carpark_area", BUILDINGS,
)  # fmt: skip
LINE_LAYERS: Final = ("road_divider", "lane_divider", "traffic_light")
MAP_LAYERS: Final = (*POLYGON_LAYERS, *LINE_LAYERS)


SITES: Final = {"crossing": ("ped_crossing", ""), "junction": ("road_segment", "is_intersection")}
"""Kinds of places for scenes: the layer, and a field of its records."""


class Building(NamedTuple):
    """A building in the simulator's list.

    Attributes:
        name: in the simulator.
        bottom_map_m, top_map_m: lower and upper height of its box.
        footprint_map_m: (N, 2) corners of the box seen from above, counter-clockwise.
    """

    name: str
    bottom_map_m: float
    top_map_m: float
    footprint_map_m: Sequence[Sequence[float]]


class TownSource(NamedTuple):
    """A town in the simulator: its OpenDRIVE text, and its buildings if requested."""

    opendrive: bytes
    buildings: Sequence[Building] = ()


class RoadMap(Protocol):
    """The roads of a town by nuScenes' layers, in the map frame, metres."""

    name: str

    def shapes_map_m(self, layer: str) -> Mapping[str, Sequence[FloatArray]]:
        """Return the shapes of a layer by token, (N, 3) each: a line, or the outer ring and the holes of a polygon."""

    def shapes_near(
        self, layer: str, bounds_map_m: tuple[float, float, float, float]
    ) -> Sequence[Sequence[FloatArray]]:
        """Return the shapes of a layer, as in ``shapes_map_m``, that touch a box (west, south, east, north; metres)."""

    def centre_lines_map_m(self, *, step_m: float = 1.0) -> Mapping[str, FloatArray]:
        """Return (N, 3) x, y, yaw along each lane and connector by token, at most ``step_m`` apart."""

    def lane_at(self, points_map_m: FloatArray) -> list[str | None]:
        """Return the token of the lane, or else of the connector, below each of (N, 2 or 3) points; None beside all lanes.

        Where lanes lie above each other, 3D points select the one with the nearest height.
        """

    def is_drivable(self, points_map_m: FloatArray) -> BoolArray:
        """Return (N,) bool, True where vehicles can drive at (N, 2 or 3) points."""

    def heights_map_m(self, layer: str) -> Mapping[str, tuple[float, float]]:
        """Return lower and upper height of the records of a layer by token, for records with heights."""

    def roof_map_m(self, points_map_m: FloatArray) -> FloatArray:
        """Return (N,) heights of the highest roof over each of (N, 2 or 3) points; NaN beside all buildings."""

    def distance_m(self, points_map_m: FloatArray, layer: str, *, having: str = "") -> FloatArray:
        """Return (N,) distances seen from above to the nearest shape of a layer, 0 inside of one; infinite without one.

        With ``having``, only records with a true field of that name count: ``is_intersection``.
        """

    def border_distance_m(self, points_map_m: FloatArray) -> FloatArray:
        """Return (N,) distances to the nearest border of the drivable area, positive inside."""
