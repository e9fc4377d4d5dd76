"""Builder of a vector map from an OpenDRIVE network."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import shapely

from uavsim.errors import InputError
from uavsim.maps.arclines import fit_arcs
from uavsim.maps.areas import TownLanes, carparks, drivable_area, lane_layers, survey, walkways
from uavsim.maps.changes import components
from uavsim.maps.controls import control_layers
from uavsim.maps.dividers import divider_layers, lane_borders, lane_cuts
from uavsim.maps.opendrive.model import Network
from uavsim.maps.opendrive.read import read_network
from uavsim.maps.vector_map import Layer, VectorMap
from uavsim.records.road_map import BUILDINGS, LINE_LAYERS, POLYGON_LAYERS, Building

_POLYGON: Final = 3  # shapely's type


def map_of_opendrive(data: bytes, *, name: str) -> VectorMap:
    """Return the vector map of an OpenDRIVE file's bytes; raises as ``build`` and ``read_network``."""
    return build(read_network(data, name=name), name)


def build(network: Network, name: str, buildings: Sequence[Building] = ()) -> VectorMap:
    """Return the vector map of a town, with a layer of buildings if there are any.

    Raises:
        InputError: the network has no driving lane.
    """
    town = survey(network, name)
    if not town.records:
        fault = f" ({network.faults[0]})" if network.faults else ""
        raise InputError(f"{network.name}: has no driving lane{fault}")
    layers = lane_layers(town)
    layers["drivable_area"] = drivable_area(town)
    _set_areas_of_segments(layers)
    layers["walkway"] = walkways(town)
    layers["carpark_area"] = carparks(town)
    layers |= control_layers(town, layers["road_segment"])
    lines, paint = divider_layers(town, layers["road_segment"])
    layers |= lines
    if buildings:
        layers[BUILDINGS] = _buildings(town, buildings)
    arcs = fit_arcs([(r.joined("centre_m")[:, :2], r.joined("yaw_rad")) for _, r, _ in town.ways])
    return VectorMap(
        name=name,
        layers={kind: layers[kind] for kind in (*POLYGON_LAYERS, *LINE_LAYERS) if kind in layers},
        borders={token: lane_borders(record) for token, record, _ in town.ways},
        dividers=paint,
        paths=dict(zip((token for token, _, _ in town.ways), arcs.records(len(town.ways)), strict=True)),
        connectivity=_connectivity(town),
        warnings=[str(fault) for fault in network.faults],
        cuts={token: lane_cuts(record) for token, record, _ in town.ways if not record.is_change},
        origin_deg_m=network.origin_deg_m,
    )


def _buildings(town: TownLanes, buildings: Sequence[Building]) -> Layer:
    """Return the layer of buildings: convex footprints at the height of the roof."""
    hulls = shapely.convex_hull([shapely.multipoints(one.footprint_map_m) for one in buildings])
    return Layer.of(
        (
            town.token("building", number, one.name),
            shapely.force_3d(hull, one.top_map_m),
            {"uav_name": one.name, "uav_height_m": [one.bottom_map_m, one.top_map_m]},
        )
        for number, (one, hull) in enumerate(zip(buildings, np.atleast_1d(hulls), strict=True))
        if shapely.get_type_id(hull) == _POLYGON
    )


def _set_areas_of_segments(layers: dict[str, Layer]) -> None:
    """Set the drivable area of each road segment."""
    areas, segments = layers["drivable_area"], layers["road_segment"]
    tree = shapely.STRtree(areas.shapes)
    which, found = tree.query(shapely.point_on_surface(segments.shapes), predicate="intersects")
    area_of = dict(zip(which.tolist(), found.tolist(), strict=True))
    for number, fields in enumerate(segments.fields):
        fields["drivable_area_token"] = areas.tokens[area_of[number]] if number in area_of else ""


def _connectivity(town: TownLanes) -> dict[str, tuple[list[str], list[str]]]:
    """Return incoming and outgoing lanes of each lane, lanes of the largest connected component first.

    The devkit searches lanes that are disconnected from the first one, and fails if these are the majority.
    """
    names = [token for token, _, _ in town.ways]
    edges = [(town.tokens[before], town.tokens[after]) for before, after in town.edges]
    for change in town.changes:
        token = town.change_token(change)
        edges += [(town.tokens[before], token) for before in change.before]
        edges += [(token, town.tokens[after]) for after in change.after]
    links: dict[str, tuple[list[str], list[str]]] = {name: ([], []) for name in names}
    for before, after in edges:
        links[after][0].append(before)
        links[before][1].append(after)
    index = {name: number for number, name in enumerate(names)}
    parts = components(len(names), [(index[a], index[b]) for a, b in edges])
    sizes = Counter(parts)
    order = sorted(range(len(names)), key=lambda number: (-sizes[parts[number]], parts[number]))
    return {names[number]: links[names[number]] for number in order}
