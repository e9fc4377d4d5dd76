"""A town's vector map as other rooms and users see it; an installed package reads it (entry points ``uavsim.road_maps``)."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from uavsim.typing import BoolArray, FloatArray

BUILDINGS: Final = "building"
"""A layer of ours beside nuScenes', which a map may have: footprints of buildings; the rings lie at the height of the roof."""
POLYGON_LAYERS: Final = (
    "drivable_area", "road_segment", "road_block", "lane", "lane_connector", "ped_crossing", "walkway", "stop_line",
    "carpark_area", BUILDINGS,
)  # fmt: skip
LINE_LAYERS: Final = ("road_divider", "lane_divider", "traffic_light")
MAP_LAYERS: Final = (*POLYGON_LAYERS, *LINE_LAYERS)


SITES: Final = {"crossing": ("ped_crossing", ""), "junction": ("road_segment", "is_intersection")}
"""Places in a town that a scene may ask for: the layer, and the field that its records have."""


class Building(NamedTuple):
    """A building as the simulator lists it: its box.

    Attributes:
        name: in the simulator.
        bottom_map_m, top_map_m: heights between which its box stands.
        footprint_map_m: (N, 2) corners of what the box covers seen from above, counter-clockwise.
    """

    name: str
    bottom_map_m: float
    top_map_m: float
    footprint_map_m: Sequence[Sequence[float]]


class TownSource(NamedTuple):
    """A town as the simulator reports it: its OpenDRIVE text, and its buildings where somebody asked for them."""

    opendrive: bytes
    buildings: Sequence[Building] = ()


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

    def heights_map_m(self, layer: str) -> Mapping[str, tuple[float, float]]:
        """Return from which to which height the records of a layer reach, by token; of those that the map says it of."""

    def roof_map_m(self, points_map_m: FloatArray) -> FloatArray:
        """Return (N,) heights of the highest roof over each of (N, 2 or 3) points; NaN beside all buildings."""

    def distance_m(self, points_map_m: FloatArray, layer: str, *, having: str = "") -> FloatArray:
        """Return (N,) distances seen from above to the nearest shape of a layer, 0 inside of one; infinite without one.

        With ``having``, only records whose field of that name is true count: ``is_intersection``.
        """

    def border_distance_m(self, points_map_m: FloatArray) -> FloatArray:
        """Return (N,) distances to the nearest border of the drivable area, positive inside."""
