"""Written files in Lanelet2's own loader, rules and routing graph."""

import sys

import lanelet2
import numpy as np
import pytest
import shapely
from headless_simulator.towns.load import load_town

from tests.maps.drawn import crossing, lane, network, road, section, text
from tests.maps.judges.map_lanelet2 import compare_lanelets
from uavsim.errors import InputError
from uavsim.maps.build import build
from uavsim.maps.lanelet2_file import osm_file
from uavsim.maps.lanelets import cut_lanes, sides_across
from uavsim.maps.opendrive.read import read_network
from uavsim.maps.vector_map import VectorMap


def loaded(town: VectorMap, folder):
    path = folder / "town.osm"
    path.write_bytes(osm_file(town))
    projector = lanelet2.projection.LocalCartesianProjector(lanelet2.io.Origin(*town.origin_deg_m))
    found, complaints = lanelet2.io.loadRobust(str(path), projector)
    assert not complaints
    return found


def of_subtype(found, subtype):
    return [one for one in found.laneletLayer if one.attributes["subtype"] == subtype]


@pytest.mark.parametrize("name", ["Town03", "Town07"])
def test_routing_graph_equals_the_maps_connectivity(name):
    found = compare_lanelets(load_town(name).opendrive.encode(), name)
    assert found["complaints"] == found["graph_complaints"] == []
    assert found["ways"] > 50
    assert found["missing"] == found["added"] == []
    assert found["border_off_m"] < 0.01
    assert found["geo_off_m"] < 1e-6
    assert found["limit_off_kmh"] < 0.1
    assert found["lights_of_lanes"] > 0
    assert found["left_out"] == 0


def test_traffic_light_rule_has_stop_line_and_lane(tmp_path):
    town = build(crossing(), "T")
    found = loaded(town, tmp_path)
    (light,) = [one for one in found.regulatoryElementLayer if isinstance(one, lanelet2.core.TrafficLight)]
    (stopped,) = [one for one in found.laneletLayer if one.trafficLights()]
    assert max(point.x for point in stopped.leftBound) == pytest.approx(100.0, abs=1e-3)
    line = np.array([(p.x, p.y) for p in light.stopLine])
    np.testing.assert_allclose(line, [(93.5, 0.0), (93.5, -3.5)], atol=0.03)  # 1 m before the crossing, left to right
    assert [(p.x, round(p.z, 3)) for p in light.trafficLights[0]] == [(pytest.approx(99.0, abs=1e-3), 4.0)] * 2


def test_crossing_is_passable_for_pedestrians_both_ways(tmp_path):
    found = loaded(build(crossing(), "T"), tmp_path)
    (walked,) = of_subtype(found, "crosswalk")
    rules = lanelet2.traffic_rules.create("de", lanelet2.traffic_rules.Participants.Pedestrian)
    assert rules.canPass(walked)
    assert not rules.isOneWay(walked)
    sides = [np.array([(p.x, p.y) for p in bound]) for bound in (walked.leftBound, walked.rightBound)]
    assert [abs(side[-1] - side[0]).round(2).tolist() for side in sides] == [[0.0, 7.0], [0.0, 7.0]]
    assert shapely.Polygon([*sides[1], *sides[0][::-1]]).exterior.is_ccw  # left is left
    assert len(of_subtype(found, "walkway")) == 3


MARKED = '<roadMark sOffset="0" type="{}" color="white"/><roadMark sOffset="60" type="{}" color="white"/>'


def two_lanes(first, then):
    marked = lane(-1).replace('<roadMark sOffset="0" type="broken" color="white"/>', MARKED.format(first, then))
    return build(network(road("1", section(marked, lane(-2)))), "T")


def test_lane_changes_follow_the_paint(tmp_path):
    found = loaded(two_lanes("solid", "broken"), tmp_path)
    rules = lanelet2.traffic_rules.create("de", lanelet2.traffic_rules.Participants.VehicleCar)
    graph = lanelet2.routing.RoutingGraph(found, rules)
    begins = {(one.leftBound[0].x, round(one.leftBound[0].y, 1)): one for one in of_subtype(found, "road")}
    left = {round(x): one for (x, y), one in begins.items() if y == 0.0}
    assert sorted(left) == [0, 60]
    assert graph.right(left[0]) is None
    assert graph.right(left[60]).leftBound.id == left[60].rightBound.id
    assert [one.id for one in graph.following(left[0])] == [left[60].id]


@pytest.mark.parametrize(
    ("paint", "rightwards", "leftwards"), [("solid broken", False, True), ("broken solid", True, False)]
)
def test_nearer_line_of_a_double_line_decides_lane_changes(tmp_path, paint, rightwards, leftwards):
    found = loaded(two_lanes(paint, paint), tmp_path)
    rules = lanelet2.traffic_rules.create("de", lanelet2.traffic_rules.Participants.VehicleCar)
    graph = lanelet2.routing.RoutingGraph(found, rules)
    first = [one for one in of_subtype(found, "road") if one.leftBound[0].x < 1.0]
    left, right = sorted(first, key=lambda one: -one.leftBound[0].y)
    assert (graph.right(left) is not None, graph.left(right) is not None) == (rightwards, leftwards)


def test_duplicate_points_do_not_reverse_borders(tmp_path):
    knots = "".join(f'<laneOffset s="{s}" a="0" b="0" c="0" d="0"/>' for s in (0, 93, 93.00002, 93.00004))
    marked = lane(-1).replace(
        '<roadMark sOffset="0" type="broken" color="white"/>', MARKED.replace("60", "93").format("solid", "broken")
    )
    town = build(network(road("1", section(marked, lane(-2)), offset=knots)), "T")
    begins = {
        round(bound[0].x)
        for one in of_subtype(loaded(town, tmp_path), "road")
        for bound in (one.leftBound, one.rightBound)
    }
    assert begins == {0, 93}


def test_speed_limit_is_the_lanes_else_the_roads(tmp_path):
    typed = '<type s="0" type="town"><speed max="30" unit="mph"/></type><planView>'
    limited_lane = lane(-2, inside='<speed sOffset="0" max="20" unit="km/h"/>')
    data = text(road("1", section(lane(-1), limited_lane))).replace(b"<planView>", typed.encode())
    found = loaded(build(read_network(data, name="limits.xodr"), "T"), tmp_path)
    rules = lanelet2.traffic_rules.create("de", lanelet2.traffic_rules.Participants.VehicleCar)
    limits = {round(one.leftBound[0].y, 1): rules.speedLimit(one).speedLimit for one in of_subtype(found, "road")}
    assert limits == {0.0: pytest.approx(48.3), -3.5: pytest.approx(20.0)}


def test_connection_with_distant_ends_is_a_warning():
    jump = section(lane(-1, after=-1), lane(-2, after=-1)), section(lane(-1, before=-1), s=50.0)
    town = build(network(road("1", *jump)), "T")
    cut = cut_lanes(town)
    assert len(cut.unconnected) == 1
    osm_file(town)
    assert sum("is not connected to" in warning for warning in town.warnings) == 1


def test_triangle_has_no_long_sides():
    triangle = np.array([(0, 0, 0), (4, 0, 0), (0, 3, 0), (0, 0, 0)], dtype=np.float64)
    assert sides_across(triangle) is None


def test_missing_library_error_names_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "lanelet2", None)
    with pytest.raises(InputError, match="--format lanelet2 needs Lanelet2's library"):
        osm_file(build(crossing(), "T"))
