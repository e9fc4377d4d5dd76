"""Streets of the procedural towns, against CARLA's map and figures of the real towns."""

import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from headless_simulator.towns import NAMES, signals
from headless_simulator.towns.lanes_index import Lanes
from headless_simulator.towns.layouts import LAYOUTS
from headless_simulator.towns.network import Link
from headless_simulator.towns.speeds import SPEED_SIGNS
from headless_simulator.towns.strips import lane_strips
from headless_simulator.towns.xodr_reader import read_network
from scipy.spatial import cKDTree

from tests.towns.sample import network_of, strips_of

# x low, x high, y low, y high of waypoints in the simulator's axes; lane km; spawn points (of the real towns, where known)
REAL = {
    "Town01": ((-2, 396, -2, 330), None, 255),
    "Town02": ((-7, 194, 105, 307), None, 101),
    "Town03": ((-149, 246, -208, 208), None, 265),
    "Town04": (None, None, 372),
    "Town05": ((-276, 211, -208, 208), None, 302),
    "Town06": ((-371, 673, -152, 413), 26.6, 436),
    "Town07": ((-205, 86, -249, 124), 7.8, 116),
    "Town10HD": ((-115, 110, -69, 141), 6.4, 155),
    "Town12": (None, None, 500),
}
ASK_CARLA = """
import json, sys
import carla
name, text = sys.argv[1], sys.stdin.read()
town = carla.Map(name, text)
STEPS = ("get_left_lane", "get_right_lane")
def endless(lane, step):
    # A walk to one side, as CARLA's no_rendering_mode does it: does it come back before it meets a driving lane?
    seen = set()
    lane = getattr(lane, step)()
    while lane and lane.lane_type != carla.LaneType.Driving:
        if lane.lane_id in seen:
            return True
        seen.add(lane.lane_id)
        lane = getattr(lane, step)()
    return False
points = town.generate_waypoints(2.0)
def walks(lane, step):
    try: return bool(lane.next_until_lane_end(step))
    except RuntimeError: return False
places = [(p.transform.location.x, p.transform.location.y, p.transform.location.z) for p in points]
topology = town.get_topology()
print(json.dumps({
    "places": places,
    "dead_ends": [(p.road_id, p.lane_id) for p in points if not p.next(2.0)],
    "endless": [(p.road_id, p.lane_id, step) for p in points for step in STEPS if endless(p, step)],
    "topology": len(topology),
    "crosswalks": len(town.get_crosswalks()),
    "stuck": [(a.road_id, step) for a, _ in town.get_topology() for step in (0.1, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 10)
              if not walks(a, step)],
    "lights": sum(mark.type == "1000001" for mark in town.get_all_landmarks()),
    "limits": [mark.value for mark in town.get_all_landmarks() if mark.type == "274"],
    "spans": [max(abs(a.transform.location.x - b.transform.location.x), abs(a.transform.location.y - b.transform.location.y))
              for a, b in topology],
}))
"""


def test_layouts_cover_all_towns():
    assert set(LAYOUTS) == set(REAL)
    assert tuple(LAYOUTS) == NAMES


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_road_has_one_median_lane_at_most(name):
    """Two would be each other's left neighbour."""
    network = network_of(name)

    for road in network.roads.values():
        for section in road.sections:
            inner = [section.lanes[number].kind for number in (-1, 1) if number in section.lanes]
            assert len(inner) < 2 or "driving" in inner, road.number


@pytest.mark.parametrize("name", LAYOUTS)
def test_carla_takes_the_map(name):
    box, lane_km, _ = REAL[name]
    text = LAYOUTS[name].plan().opendrive()

    done = subprocess.run(
        [sys.executable, "-c", ASK_CARLA, name], input=text, capture_output=True, text=True, timeout=120, check=True
    )

    reported = json.loads(done.stdout)
    places = np.array(reported["places"])
    assert reported["dead_ends"] == []  # every lane leads on
    assert reported["stuck"] == []  # no step divides a lane
    assert reported["endless"] == []  # every walk left or right ends
    assert np.isfinite(places).all()
    assert reported["topology"] > (90 if name == "Town02" else 100)  # a handful of blocks
    assert reported["lights"] >= 7
    assert len(reported["limits"]) >= 24
    assert set(reported["limits"]) <= set(SPEED_SIGNS)
    assert reported["crosswalks"] >= 40
    if box:
        np.testing.assert_allclose([*np.sort(places[:, 0])[[0, -1]], *np.sort(places[:, 1])[[0, -1]]], box, atol=13)
    if lane_km:
        assert len(places) * 2 / 1000 == pytest.approx(lane_km, rel=0.15)


@pytest.mark.parametrize("name", LAYOUTS)
def test_roads_meet_only_at_junctions(name):
    network = network_of(name)
    lanes = [strip for strip in strips_of(name) if strip.kind == "driving"]
    points, owner = [], []
    for number, lane in enumerate(lanes):
        s = np.arange(lane.s[0], lane.s[-1], 2.0)
        points.append(np.stack([np.interp(s, lane.s, lane.centre_m[:, axis]) for axis in (0, 1)], axis=1))
        owner += [number] * len(s)

    pairs = cKDTree(np.concatenate(points)).query_pairs(2.6, output_type="ndarray")

    met = {(lanes[owner[a]].road, lanes[owner[b]].road) for a, b in pairs.tolist()}
    foreign = [(a, b) for a, b in met if a != b and not near(network, a, b)]
    assert foreign == []


def near(network, a, b):
    """Whether two roads share a junction, or one is a way through a junction at the other's end."""
    first, second = (junctions_of(network.roads[number]) for number in (a, b))
    return bool(first & second)


def junctions_of(road):
    ends = {link.number for link in (road.predecessor, road.successor) if link and link.element == "junction"}
    return ends | ({road.junction} if road.junction else set())


@pytest.mark.parametrize("name", LAYOUTS)
def test_connecting_lanes_join_their_links(name):
    network = network_of(name)
    ends = {}
    for strip in strips_of(name):
        ends[strip.road, strip.lane] = (strip.centre_m[0], strip.centre_m[-1])
    checked = 0
    for road in network.roads.values():
        lane = road.sections[0].lanes.get(-1)
        if not road.junction or lane is None or lane.predecessor is None:
            continue
        for link, number, end in ((road.predecessor, lane.predecessor, 0), (road.successor, lane.successor, -1)):
            assert isinstance(link, Link)
            assert number is not None
            linked_end = ends[link.number, number][-1 if link.contact == "end" else 0]
            np.testing.assert_allclose(ends[road.number, -1][end], linked_end, atol=0.01)
            checked += 1
    assert checked > 40


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_roundabout_lane_has_an_exit(name):
    """An inner lane without a way out fills up and never empties: drivers need not change lanes."""
    network = network_of(name)
    after: dict[tuple[str, int], set[tuple[str, int]]] = {}
    for road in network.roads.values():
        lane = road.sections[0].lanes.get(-1)
        if road.junction and lane is not None and lane.predecessor is not None:
            assert road.predecessor is not None
            assert road.successor is not None
            assert lane.successor is not None
            start, end = (road.predecessor.number, lane.predecessor), (road.successor.number, lane.successor)
            after.setdefault(start, set()).add(end)
            after.setdefault(end, set())

    for first in after:
        met, todo = {first}, [first]
        while todo:
            new = after[todo.pop()] - met
            met |= new
            todo += new
        assert sum(network.roads[road].length_m for road, _ in met) > 400.0, first


@pytest.mark.parametrize("name", LAYOUTS)
def test_one_approach_is_green_at_a_time(name):
    """Drivers of CARLA's kind do not give way to oncoming traffic when they turn left."""
    network = network_of(name)
    assert network.controllers
    assert all(len(signals) == 1 for signals in network.controllers.values())


@pytest.mark.parametrize("name", LAYOUTS)
def test_no_light_is_red_for_longer_than_three_others_are_green(name):
    """Each approach is green for 10 s of every 15: at a crossing of five arms, cars would wait for a minute."""
    network = network_of(name)
    assert max(len(controllers) for controllers in network.junction_controllers.values()) <= 4


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_text_is_the_same_every_time(name):
    assert LAYOUTS[name].plan().opendrive() == LAYOUTS[name].plan().opendrive()


def test_town01_road_4_has_carlas_position():
    """scenario_runner's files give (190, 133) and road 4, s 48.58 for one place."""
    network = network_of("Town01")

    x, y, _ = network.roads["4"].plan[0].at(np.array([48.58]))

    assert network.roads["4"].length_m > 98.58
    assert abs(x[0] - 190.0) < 40.0
    assert abs(-y[0] - 133.0) < 5.0


@pytest.mark.parametrize("case", ["no controller names it", "another names it, too"])
def test_lights_without_a_correct_controller_are_green_alone(case, monkeypatch):
    """As three of CARLA's Town10HD, which were green together with traffic that crosses theirs."""
    monkeypatch.setattr(signals, "label_of", lambda *_: None)  # all posts stand clear of roads
    text = LAYOUTS["Town02"].plan().opendrive()
    if case == "no controller names it":
        text = text[: text.index("<controller ")] + text[text.index("</controller>") + len("</controller>") :]
    else:
        control = '<control signalId="1002" type="0"/>'
        text = text.replace(control, control + control).replace("</controller>", control + "</controller>", 1)
    network = read_network(text.encode(), "map")

    heads = signals.signal_heads(Lanes(network, lane_strips(network)), None)  # type: ignore[arg-type]  # it is not asked

    assert sorted(Counter(head.group for head in heads).values()) == [3] * 8
    assert len({(head.group, head.stage) for head in heads}) == len(heads)
