"""Assembly of a town from an OpenDRIVE text and a style."""

import zlib
from dataclasses import replace

import numpy as np

from headless_simulator.scene import MATTE, TAG, Float64, SignalHead, Town
from headless_simulator.towns.bounds import check_extent
from headless_simulator.towns.furniture import put_lights, put_signs
from headless_simulator.towns.ground import Land, build_land
from headless_simulator.towns.junction_marks import paint_junction_marks
from headless_simulator.towns.landuse import in_parks, terrain_colours
from headless_simulator.towns.lanes_index import Lanes, spawn_points, speed_limits
from headless_simulator.towns.lawns import lay_lawns
from headless_simulator.towns.limits import CLIENT, Limits
from headless_simulator.towns.markings import paint_crosswalk, paint_marks, paint_stop_line
from headless_simulator.towns.mountains import paint_mountains
from headless_simulator.towns.network import Network
from headless_simulator.towns.objects import Stock
from headless_simulator.towns.parked import park_vehicles
from headless_simulator.towns.placement import Works, build_fronts, build_outskirts
from headless_simulator.towns.planting import plant_land, plant_streets, put_parapets, put_rails
from headless_simulator.towns.signals import signal_heads, traffic_signs
from headless_simulator.towns.site import Site
from headless_simulator.towns.strips import lane_strips
from headless_simulator.towns.styles import GRASS, Style
from headless_simulator.towns.surfaces import junction_floors, paint_surfaces
from headless_simulator.towns.triangle_soup import Appearance, TriangleSoup, jitter
from headless_simulator.towns.walks import crosswalk_outlines, walk_polygons
from headless_simulator.towns.water import River, paint_river


def assemble(
    name: str,
    opendrive: str,
    network: Network,
    style: Style,
    seed: int,
    *,
    limits: Limits = CLIENT,
    sign_bends: bool = False,
) -> Town:
    """Build a town.

    Args:
        name: town name.
        opendrive: the clients' OpenDRIVE text.
        network: the parsed text.
        style: style of the land.
        seed: random seed.
        limits: largest extent of the lanes.
        sign_bends: lower the speed limits in bends.

    Raises:
        OpenDriveRefused: the lanes exceed the limits.
    """
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    strips = lane_strips(network)
    check_extent(strips, name, limits)
    lanes = Lanes(network, strips)
    floors = junction_floors(lanes.strips)
    river = River.through(style.river_m)
    land = build_land(lanes.strips, floors, (style.hills_m, river), rng)
    outlines = crosswalk_outlines(network)
    heads = signal_heads(lanes, land)
    signs = traffic_signs(lanes, land)
    triangle_soup = TriangleSoup()
    stock = Stock(triangle_soup)
    _paint_ground(triangle_soup, lanes, land, (floors, outlines, heads), (style, rng))
    put_lights(stock, heads)
    park_vehicles(stock, lanes.strips, style.parked, rng)
    works = Works(Site.on(land, river), stock, style, rng)
    build_fronts(works, lanes.strips)
    plant_streets(works, lanes.strips)
    put_rails(works, lanes.strips)
    put_parapets(works, lanes.strips)
    build_outskirts(works)
    plant_land(works)
    if style.lawns_per_ha:
        lay_lawns(works, style.lawns_per_ha)
    if style.mountains_m:
        paint_mountains(triangle_soup, land, style.mountains_m, rng)
    put_signs(stock, signs)  # last: towns that get more signs keep the numbers of everything else
    mesh, labels = triangle_soup.finish()
    return Town(
        name=name,
        opendrive=opendrive,
        spawn_points=spawn_points(lanes, style.spawn_points or None),
        mesh=mesh,
        ground=land.as_ground(),
        signals=tuple(
            replace(head, lamp_triangles=np.flatnonzero(labels == number + 1).astype(np.int32))
            for number, head in enumerate(heads)
        ),
        objects=tuple(stock.items),
        walk_polygons=walk_polygons(lanes, outlines),
        crosswalks=tuple(outlines),
        speed_limits=speed_limits(lanes, sign_bends=sign_bends),
        traffic_signs=tuple(signs),
        georeference=network.georeference,
    )


def _paint_ground(
    triangle_soup: TriangleSoup,
    lanes: Lanes,
    land: Land,
    parts: tuple[dict[str, Float64], list[Float64], list[SignalHead]],
    manner: tuple[Style, np.random.Generator],
) -> None:
    floors, outlines, heads = parts
    style, rng = manner
    triangle_soup.triangles(land.terrain, Appearance(terrain_colours(land, style, rng), TAG["terrain"], MATTE))
    green = in_parks(land.verges[:, :, :2].mean(axis=1), style)
    shade = jitter(style.verge_rgb, len(land.verges), 4, rng)[~green]
    triangle_soup.quads(
        land.verges[~green], Appearance(shade, TAG["sidewalk" if style.land == "paved" else "terrain"], MATTE)
    )
    triangle_soup.quads(land.verges[green], Appearance(GRASS, TAG["terrain"], MATTE))
    paint_surfaces(triangle_soup, lanes.strips, floors, rng)
    paint_marks(triangle_soup, lanes.strips, lanes.network)
    paint_junction_marks(triangle_soup, lanes)
    paint_river(triangle_soup, River.through(style.river_m), float(np.median(land.height_m)))
    for outline in outlines:
        paint_crosswalk(triangle_soup, outline)
    for head in heads:
        for pose in head.stop_lines:
            paint_stop_line(triangle_soup, pose, 3.0)
