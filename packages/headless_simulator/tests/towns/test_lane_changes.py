"""Lane change permissions, hand-computed and in CARLA's map."""

import subprocess
import sys

from headless_simulator.towns.lane_changes import changes_along
from headless_simulator.towns.layouts import LAYOUTS
from headless_simulator.towns.paths import Path, Pose
from headless_simulator.towns.xodr_reader import read_network

START = Pose(0.0, 0.0, 0.0)
STRAIGHT = Path(START, ((100.0, 0.0),))
ASK_CARLA = """
import sys, carla
town = carla.Map("Town10HD", sys.stdin.read())
seen = {"near": set(), "far": set()}
for point in town.generate_waypoints(2.0):
    if not point.is_junction and point.get_left_lane() and point.get_left_lane().lane_type == carla.LaneType.Driving:
        same_way = point.get_left_lane().lane_id * point.lane_id > 0
        soon, later = point.next(20.0), [point.next(float(ahead))[0].is_junction for ahead in range(2, 42, 4)]
        if same_way and soon and soon[0].is_junction:
            seen["near"].add(str(point.lane_change))
        elif same_way and not any(later) and not any(before.is_junction for before in point.previous(8.0)):
            seen["far"].add(str(point.lane_change))
print(sorted(seen["near"]), sorted(seen["far"]))
"""


def test_the_last_30_m_before_a_junction_are_closed():
    assert changes_along(STRAIGHT, 50.0, forward=True) == ((0.0, True), (70.0, False))
    assert changes_along(STRAIGHT, 50.0, forward=False) == ((0.0, False), (30.0, True))


def test_a_bend_is_closed_where_its_limit_is_lower():
    path = Path(START, ((100.0, 0.0), (30.0, 1 / 20.0), (100.0, 0.0)))

    assert changes_along(path, 50.0, forward=True) == ((0.0, True), (75.0, False), (155.0, True), (200.0, False))


def test_a_short_road_is_closed():
    assert changes_along(Path(START, ((20.0, 0.0),)), 50.0, forward=True) == ((0.0, False),)


def test_clients_may_not_change_lanes_before_a_junction():
    text = LAYOUTS["Town10HD"].plan().opendrive()

    done = subprocess.run([sys.executable, "-c", ASK_CARLA], input=text, capture_output=True, text=True, check=True)

    near, far = done.stdout.strip().split("] [")
    assert near == "['NONE'"
    assert "Left" in far


def test_lines_stop_at_crosswalks():
    network = read_network(LAYOUTS["Town10HD"].plan().opendrive().encode(), "Town10HD")
    crossed = [road for road in network.roads.values() if any(item.kind == "crosswalk" for item in road.objects)]
    assert crossed
    for road in crossed:
        for lane in road.sections[0].lanes.values():
            for item in road.objects:
                if item.kind == "crosswalk" and lane.marks:
                    assert [mark.kind for mark in lane.marks if mark.s_offset <= item.s][-1] == "none"
        inner = [mark.kind for mark in road.sections[0].lanes[0].marks]
        assert set(inner) - {"none"}, road.number
