"""Files of ``uavsim map``: map expansion with rasters, GeoJSON, lane graphs and Lanelet2."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import orjson
import shapely

from uavsim.files.results import ResultPath
from uavsim.files.whole import whole_file
from uavsim.images import codec
from uavsim.maps.build import build
from uavsim.maps.expansion import expansion_chunks
from uavsim.maps.lanelet2_file import osm_file
from uavsim.maps.opendrive.read import read_network
from uavsim.maps.raster import filled
from uavsim.maps.vector_map import VectorMap
from uavsim.records.road_map import TownSource
from uavsim.typing import BoolArray, FloatArray, JsonDict, UInt8Array

BORROWED: Final[Mapping[str, str]] = {
    "singapore-onenorth": "53992ee3023e5494b90c316c183be829",
    "singapore-hollandvillage": "37819e65e09e5547b8a3ceaefba56bb2",
    "singapore-queenstown": "93406b464a165eaba6d9de76ca09f5da",
    "boston-seaport": "36092f0b03a857c6a3403e25b4b7aab3",
}
"""Map names that nuScenes' devkit accepts, with the file names of their semantic priors."""

_RASTER_PX_PER_M: Final = 10.0
_WIDEST_PX: Final = 12_000


File: TypeAlias = bytes | Iterable[bytes]
"""The content of a file, or its chunks."""


def expansion_files(town: VectorMap, name: str) -> dict[str, File]:
    """Return nuScenes' files by path: the JSON, and rasters from (0, 0) to the canvas edge as in the devkit."""
    east, north = (float(max(np.ceil(value), 1)) for value in town.bounds_m[2:])
    scale = min(_RASTER_PX_PER_M, _WIDEST_PX / max(east, north))
    size = (max(round(east * scale), 1), max(round(north * scale), 1))

    def px_of(points: FloatArray) -> FloatArray:
        return np.stack([points[:, 0] * scale, size[1] - points[:, 1] * scale], axis=1)

    def mask(*layers: str) -> BoolArray:
        return filled([s for layer in layers for s in town.layer(layer).shapes], size_px=size, px_of=px_of)

    ground: UInt8Array = np.full((size[1], size[0]), 235, dtype=np.uint8)
    for value, layer in ((170, "walkway"), (110, "drivable_area"), (220, "ped_crossing")):
        ground[mask(layer)] = value
    files: dict[str, File] = {f"maps/basemap/{name}.png": codec.encode_png(ground, level=6)}
    if name in BORROWED:  # the devkit reads fixed file names
        prior: UInt8Array = np.where(mask("drivable_area", "walkway"), 255, 0).astype(np.uint8)
        files[f"maps/{BORROWED[name]}.png"] = codec.encode_png(prior, level=6)
    return {f"maps/expansion/{name}.json": expansion_chunks(town), **files}


def geojson_files(town: VectorMap, name: str) -> dict[str, File]:
    """Return a GeoJSON file of all layers, metres in the map frame."""
    features = [
        {
            "type": "Feature",
            "id": token,
            "properties": {"layer": kind, **fields},
            "geometry": orjson.Fragment(shapely.to_geojson(shape)),
        }
        for kind, layer in town.layers.items()
        for token, shape, fields in zip(layer.tokens, layer.shapes, layer.fields, strict=True)
    ]
    features += [
        {
            "type": "Feature",
            "id": f"{token}-centre",
            "properties": {"layer": "centre_line", "lane_token": token, "outgoing": town.connectivity[token][1]},
            "geometry": {"type": "LineString", "coordinates": town.centre_line_m(token)[:, :2].round(3).tolist()},
        }
        for token in town.paths
    ]
    head = {"type": "FeatureCollection", "name": town.name, "features": features}
    return {f"{name}.geojson": orjson.dumps(head)}


def graph_files(town: VectorMap, name: str) -> dict[str, File]:
    """Return a lane graph of the town in the form of OpenLane-V2: centre lines, traffic lights and their topology.

    Coordinates are in the map frame; OpenLane-V2's own files are cut into frames.
    """
    tokens = list(town.paths)
    index = {token: number for number, token in enumerate(tokens)}
    connectors = frozenset(town.layer("lane_connector").tokens)
    lights = town.layer("traffic_light")
    follows = np.zeros((len(tokens), len(tokens)), dtype=np.int8) if len(tokens) <= _DENSE else None
    pairs = [[index[a], index[b]] for a in tokens for b in town.connectivity[a][1]]
    heeds = [
        [index[lane], number]
        for number, row in enumerate(lights.fields)
        for lane in row.get("uav_lane_tokens", [])
        if lane in index
    ]
    lanes = [
        {"id": token, "points": _with_heights(town, token), "is_intersection_or_connector": token in connectors}
        for token in tokens
    ]
    graph: JsonDict = {
        "uav_town": town.name,
        "annotation": {
            "lane_centerline": lanes,
            "traffic_element": [
                {"id": token, "category": 1, "pose": row["pose"]}
                for token, row in zip(lights.tokens, lights.fields, strict=True)
            ],
            "topology_lclc_pairs": pairs,
            "topology_lcte_pairs": heeds,
        },
    }
    if follows is not None:
        for a, b in pairs:
            follows[a, b] = 1
        graph["annotation"]["topology_lclc"] = follows.tolist()
    return {f"{name}.lane_graph.json": orjson.dumps(graph)}


_DENSE: Final = 1000  # largest number of lanes with a dense matrix


def _with_heights(town: VectorMap, token: str) -> list[list[float]]:
    """Return (N, 3) points of a centre line as lists; z is interpolated along the left border."""
    line = town.centre_line_m(token)[:, :2]
    border = town.borders[token][0].points_m
    s = np.linspace(0.0, 1.0, len(line))
    z = np.interp(s, np.linspace(0.0, 1.0, len(border)), border[:, 2]) if len(border) else np.zeros(len(line))
    return np.column_stack([line, z]).round(3).tolist()  # type: ignore[no-any-return]


FORMATS: Final[Mapping[str, Callable[[VectorMap, str], dict[str, File]]]] = {
    "nuscenes": expansion_files,
    "geojson": geojson_files,
    "graph": graph_files,
    "lanelet2": lambda town, name: {f"{name}.osm": osm_file(town)},
}


def files_of_town(source: TownSource, town: str, forms: Sequence[str]) -> dict[str, bytes]:
    """Return the files of a town by path in a dataset; the form ``expansion`` is nuScenes' map expansion.

    Raises:
        InputError: the source is not OpenDRIVE, or has no driving lane.
    """
    vector_map = build(read_network(source.opendrive, name=town), town, source.buildings)
    files: dict[str, bytes] = {}
    for form in forms:
        folder, format_ = ("", "nuscenes") if form == "expansion" else (f"maps/{form}/", form)
        for path, data in FORMATS[format_](vector_map, town).items():
            files[folder + path] = data if isinstance(data, bytes) else b"".join(data)
    return files


def write_files(out: ResultPath, files: Mapping[str, File]) -> dict[str, int]:
    """Write files below a folder; returns their sizes in bytes by name."""
    sizes = {}
    for name, data in files.items():
        with whole_file(out / name) as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            sizes[name] = file.tell()
    return sizes
