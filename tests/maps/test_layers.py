"""A hand-written junction as nuScenes' layers."""

import json
from collections import Counter
from typing import cast

import numpy as np
import pytest
import shapely

from tests.maps.drawn import crossing, lane, network, road, section
from uavsim.access.bev import bev_of_map
from uavsim.errors import DatasetError, InputError, UnknownNameError
from uavsim.geometry.bev import BevFrame
from uavsim.maps.build import build
from uavsim.maps.expansion import expansion_json, read_expansion
from uavsim.maps.files import geojson_files, graph_files


@pytest.fixture(scope="module")
def town():
    return build(crossing(), "T")


def at(town, x, y, layer="lane"):
    _, rows = town.records_at(np.array([[x, y]]), layer)
    return [town.layer(layer).tokens[row] for row in rows]


def test_connectivity_follows_the_links_of_the_file(town):
    (incoming,) = at(town, 50, -1.7)
    through, turn = at(town, 120, -1.7, "lane_connector"), at(town, 105, -0.5, "lane_connector")
    assert sorted(town.connectivity[incoming][1]) == sorted({*through, *turn})
    assert town.connectivity[through[0]] == ([incoming], at(town, 150, -1.7))
    assert town.connectivity[at(town, 120, 1.7, "lane_connector")[0]] == (at(town, 150, 1.7), at(town, 50, 1.7))


def test_layers_have_the_drawn_shapes(town):
    assert at(town, 50, -4.5, "walkway")
    assert not at(town, 50, -3.4, "walkway")
    assert shapely.area(town.layer("ped_crossing").shapes[0]) == pytest.approx(21.0)
    assert shapely.area(town.layer("lane").shapes).min() == pytest.approx(350.0)
    assert [row["is_intersection"] for row in town.layer("road_segment").fields].count(True) == 1
    assert town.is_drivable(np.array([[50, 0], [50, -4.5], [120, 0], [50, 30]])).tolist() == [True, False, True, False]
    np.testing.assert_allclose(town.border_distance_m(np.array([[30, 1.5], [50, -10.0]])), [2.0, -6.5], atol=0.02)


def test_traffic_light_has_a_stop_line_before_the_crossing(town):
    (row,) = town.layer("stop_line").fields
    assert row["stop_line_type"] == "TRAFFIC_LIGHT"
    assert row["traffic_light_tokens"] == town.layer("traffic_light").tokens
    assert row["ped_crossing_tokens"] == town.layer("ped_crossing").tokens
    (light,) = town.layer("traffic_light").fields
    assert (light["pose"]["tx"], light["pose"]["ty"], light["pose"]["tz"]) == (99, -5, 4)
    assert abs(light["pose"]["rz"]) == pytest.approx(np.pi, abs=1e-5)  # it faces oncoming traffic
    assert light["from_road_block_token"] == row["road_block_token"] == at(town, 50, -1.7, "road_block")[0]
    west, south, east, north = shapely.bounds(town.layer("stop_line").shapes[0])
    assert (west, south, east, north) == pytest.approx((92.5, -3.5, 93.5, 0), abs=0.01)  # 1 m before the crossing


def test_validities_override_the_orientation_of_a_light(town):
    contradicted = build(crossing("-"), "T")
    assert contradicted.layer("traffic_light").fields == town.layer("traffic_light").fields
    assert contradicted.layer("stop_line").fields == town.layer("stop_line").fields


def test_borders_have_the_painted_lines(town):
    assert len(town.layer("road_divider")) == 3
    assert not len(town.layer("lane_divider"))
    left, right = town.borders[at(town, 50, -1.7)[0]]
    assert set(left.types) == {"SINGLE_SOLID_WHITE"}
    assert set(right.types) == {"SINGLE_DASHED_WHITE"}


def test_paint_changes_at_the_files_offsets():
    painted = "".join(
        f'<roadMark sOffset="{s}" type="{kind}" color="white"/>' for s, kind in ((60, "solid"), (80, "broken"))
    )
    lanes = (lane(i, mark="broken").replace("</lane>", f"{painted}</lane>") for i in (1, -1))
    town = build(network(road("1", section(*lanes))), "T")
    solid = []
    for left, right in town.borders.values():
        assert set(left.types) == {"SINGLE_SOLID_WHITE"}  # the centre line
        x = right.points_m[:, 0].round(3).tolist()
        at = right.types.index("SINGLE_SOLID_WHITE")
        solid.append((x[at], x[at + 1], right.types.count("SINGLE_SOLID_WHITE")))
    assert sorted(solid) == [(60.0, 80.0, 1), (80.0, 60.0, 1)]


def test_distance_to_a_layer(town):
    places = np.array([[96.0, 0.0], [99.5, 0.0], [50.0, 0.0]])
    np.testing.assert_allclose(town.distance_m(places, "ped_crossing"), [0.0, 2.0, 44.5], atol=1e-6)
    assert town.distance_m(places, "carpark_area").tolist() == [np.inf] * 3
    junction = town.distance_m(places, "road_segment", having="is_intersection")
    np.testing.assert_allclose(junction, [4.0, 0.5, 50.0], atol=1e-6)


def test_expansion_round_trips(town):
    data = expansion_json(town)
    again = read_expansion(data, name="T")
    assert expansion_json(again) == data
    tables = json.loads(data)
    assert tables["version"] == "1.3"
    assert tables["canvas_edge"] == [240.0, 120.0]
    with pytest.raises(DatasetError, match="not a map expansion"):
        read_expansion(b'{"node": []}', name="T")


def test_raster_rotates_with_its_agent(town):
    for yaw, left in ((0.0, (0.0, 1.0)), (np.pi / 2, (-1.0, 0.0)), (0.3, (-np.sin(0.3), np.cos(0.3)))):
        frame = BevFrame((90.0, -1.6), yaw, size_m=(40.0, 20.0), metres_per_px=0.5)
        (mask,) = bev_of_map(town, ["drivable_area"], frame)
        rows, columns = np.indices(mask.shape)
        ahead_m, left_m = (columns + 0.5) * 0.5 - 20.0, (rows + 0.5) * 0.5 - 10.0
        ahead = np.array([left[1], -left[0]])
        places = np.array([90.0, -1.6]) + ahead_m[..., None] * ahead + left_m[..., None] * np.array(left)
        inside_m = town.border_distance_m(places.reshape(-1, 2)).reshape(mask.shape)
        assert mask.shape == (40, 80)
        assert mask[inside_m > 0.5].all()
        assert not mask[inside_m < -0.5].any()


def test_raster_of_lines_and_unknown_layer(town):
    frame = BevFrame((50.0, 0.0), 0.0, size_m=(20.0, 20.0), metres_per_px=0.5)
    (line,) = bev_of_map(town, ["road_divider"], frame)
    assert np.flatnonzero(line.any(axis=1)).tolist() in ([19, 20], [20], [19])
    with pytest.raises(UnknownNameError, match="did you mean 'ped_crossing'"):
        bev_of_map(town, ["ped_crosing"], frame)
    with pytest.raises(InputError, match="a raster of 20 m x 20 m with 0 m per pixel has no pixels"):
        BevFrame((0.0, 0.0), 0.0, size_m=(20.0, 20.0), metres_per_px=0.0)


def test_shifted_map_only_moves(town):
    moved = town.shifted(10.0, -5.0)
    np.testing.assert_allclose(moved.bounds_m, np.array(town.bounds_m) + [10, -5, 10, -5])
    token = next(iter(town.paths))
    np.testing.assert_allclose(moved.centre_line_m(token), town.centre_line_m(token) + [10, -5, 0], atol=1e-9)


def test_lane_at_a_bridge_depends_on_height():
    flat = road("1", section(lane(-1)))
    over = road(
        "2", section(lane(-1)), x=50, y=-50, heading=np.pi / 2, elevation='<elevation s="0" a="6" b="0" c="0" d="0"/>'
    )
    town = build(network(flat, over), "T")
    below, above = town.lane_at(np.array([[51.7, -1.7, 0.2], [51.7, -1.7, 5.9]]))
    assert {below, above} == set(town.layer("lane").tokens)
    assert below != above


def test_continuing_sections_are_one_lane():
    parts = (
        section(lane(-1, after=-1)),
        section(lane(-1, before=-1, after=-2), s=40.0),
        section(lane(-1), lane(-2, before=-1), s=70.0),
    )
    town = build(network(road("1", *parts)), "T")
    assert sorted(len(after) for _, after in town.connectivity.values()) == [0, 0]
    lengths = sorted(sum(sum(arc["segment_length"]) for arc in path) for path in town.paths.values())
    assert lengths == pytest.approx([30.0, 100.0], abs=2.0)


@pytest.mark.parametrize(("s_m", "cuts"), [(0.6, 0), (40.0, 1), (99.4, 0)])
def test_section_under_a_metre_joins_its_neighbour(s_m, cuts):
    parts = (section(lane(-1, after=-1)), section(lane(-1, before=-1), s=s_m))
    town = build(network(road("1", *parts)), "T")
    assert [len(at) for at in town.cuts.values()] == [cuts]


def test_network_without_driving_lanes_is_refused():
    with pytest.raises(InputError, match=r"drawn.xodr: has no driving lane"):
        build(network(road("1", section(lane(-1, "sidewalk")))), "T")


def ring_road(mark):
    """Return a closed circle of four roads with two lanes."""

    def link(number):
        before, after = (number - 2) % 4 + 1, number % 4 + 1
        return (
            f'<predecessor elementType="road" elementId="{before}" contactPoint="end"/>'
            f'<successor elementType="road" elementId="{after}" contactPoint="start"/>'
        )

    lanes = section(lane(-1, before=-1, after=-1, mark=mark), lane(-2, before=-2, after=-2))
    places = ((0.0, -50.0, 0.0), (50.0, 0.0, 0.5), (0.0, 50.0, 1.0), (-50.0, 0.0, 1.5))
    return network(
        *(
            road(
                str(number), lanes, x=x, y=y, heading=half_turns * np.pi, length=25 * np.pi,
                shape='<arc curvature="0.02"/>', link=link(number),
            )
            for number, (x, y, half_turns) in enumerate(places, start=1)
        )
    )  # fmt: skip


def test_unconnected_lanes_are_joined_by_lane_changes():
    town = build(ring_road("broken"), "T")
    changes = [
        token for token, row in zip(town.layer("lane_connector").tokens, town.layer("lane_connector").fields, strict=True)
        if row["uav_lane_change"]
    ]  # fmt: skip
    assert len(changes) == 2
    for token in changes:
        (before,), (after,) = town.connectivity[token]
        line = town.centre_line_m(token)
        np.testing.assert_allclose(line[0], town.centre_line_m(before)[-1], atol=0.02)
        np.testing.assert_allclose(line[-1, :2], town.centre_line_m(after)[0, :2], atol=0.02)
        radii = np.linalg.norm(line[:, :2], axis=1)
        assert {round(radii[0] - 50.0, 2), round(radii[-1] - 50.0, 2)} == {1.75, 5.25}


def test_solid_line_prevents_lane_changes():
    town = build(ring_road("solid"), "T")
    assert not len(town.layer("lane_connector"))


def test_unconnected_turning_lane_is_only_drivable_area():
    town = build(network(road("1", section(lane(1), lane(-1, "bidirectional"), lane(-2)))), "T")
    assert len(town.layer("lane")) == len(town.paths) == 2
    assert town.is_drivable(np.array([[50.0, -1.7]])).all()


def test_lane_graph_holds_the_junctions_topology(town):
    (graph,) = (json.loads(cast(bytes, data)) for data in graph_files(town, "T").values())
    found = graph["annotation"]
    ids = [lane["id"] for lane in found["lane_centerline"]]
    assert ids == list(town.paths)
    pairs = {(ids[a], ids[b]) for a, b in found["topology_lclc_pairs"]}
    assert pairs == {(a, b) for a, (_, after) in town.connectivity.items() for b in after}
    dense = np.array(found["topology_lclc"])
    assert {(ids[a], ids[b]) for a, b in np.argwhere(dense).tolist()} == pairs
    (light,) = found["traffic_element"]
    assert (light["pose"]["tx"], light["pose"]["ty"]) == (99, -5)
    heeding = {ids[lane] for lane, _ in found["topology_lcte_pairs"]}
    assert heeding == {*at(town, 120, -1.7, "lane_connector"), *at(town, 105, -0.5, "lane_connector")}
    (through,) = at(town, 120, -1.7, "lane_connector")
    line = np.array(found["lane_centerline"][ids.index(through)]["points"])
    np.testing.assert_allclose(line[[0, -1]], [[100, -1.75, 0], [140, -1.75, 0]], atol=1e-3)
    connectors = {lane["id"] for lane in found["lane_centerline"] if lane["is_intersection_or_connector"]}
    assert connectors == set(town.layer("lane_connector").tokens)


def test_geojson_holds_every_layer(town):
    (data,) = geojson_files(town, "T").values()
    features = json.loads(cast(bytes, data))["features"]
    counts = Counter(feature["properties"]["layer"] for feature in features)
    assert counts == {name: len(layer) for name, layer in town.layers.items() if len(layer)} | {
        "centre_line": len(town.paths)
    }
    (crossing_shape,) = (f["geometry"] for f in features if f["properties"]["layer"] == "ped_crossing")
    ring = np.array(crossing_shape["coordinates"][0])
    assert (ring[:, 0].min(), ring[:, 0].max()) == pytest.approx((94.5, 97.5))


def test_shapes_of_multipolygons_hold_the_rings_of_all_parts(town):
    rings = [ring for shape in town.shapes_map_m("drivable_area").values() for ring in shape]
    whole = sum(shapely.area(shapely.polygons(ring[:, :2])) for ring in rings)
    assert whole == pytest.approx(shapely.area(town.layer("drivable_area").shapes).sum())


def test_width_jump_is_a_ramp_of_half_a_metre():
    wider = '<width sOffset="60" a="5" b="0" c="0" d="0"/>'
    (shape,) = build(network(road("1", section(lane(-1, inside=wider)))), "T").layer("lane").shapes
    assert shapely.area(shape) == pytest.approx(60 * 3.5 + 40 * 5 + 0.5 * 1.5 / 2, abs=1e-3)


def test_width_jump_at_the_begin_is_a_short_ramp():
    narrower = '<width sOffset="0.00002" a="2.5" b="0" c="0" d="0"/>'
    (shape,) = build(network(road("1", section(lane(-1, inside=narrower)))), "T").layer("lane").shapes
    assert shapely.area(shape) == pytest.approx(100 * 2.5 + 0.05 * 1.0 / 2, abs=1e-3)


def test_lane_offset_jump_does_not_change_the_previous_section():
    offset = "".join(f'<laneOffset s="{s}" a="{a}" b="0" c="0" d="0"/>' for s, a in ((0, -6), (40, -1)))
    town = build(network(road("1", section(lane(-1)), section(lane(-1), s=40.0), offset=offset)), "T")
    assert sorted(shapely.bounds(town.layer("lane").shapes).round(3).tolist()) == [
        [0, -9.5, 40, -6],
        [40, -4.5, 100, -1],
    ]
