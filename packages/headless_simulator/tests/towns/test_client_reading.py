"""Refusal of files that CARLA's client misreads or cannot read, compared with the client itself."""

import json
import subprocess
import sys

import pytest
from headless_simulator.towns.client_reading import client_id
from headless_simulator.towns.errors import OpenDriveRefused
from headless_simulator.towns.strips import lane_strips
from headless_simulator.towns.xodr_reader import read_network

from tests.towns.sample import document, road

ASK_CLIENT = """
import json, sys
import carla
places = carla.Map("map", sys.stdin.read()).generate_waypoints(2.0)
print(json.dumps([sorted({p.road_id for p in places}), all(p.transform.location.x == p.transform.location.x for p in places)]))
"""
GEOMETRY = '<geometry s="{s}" x="{s}" y="0" hdg="0" length="{length}">{shape}</geometry>'
LANE = '<lane id="-1" type="{kind}"><link>{link}</link>{width}</lane>'
WIDTH = '<width sOffset="0" a="3.5" b="0" c="0" d="0"/>'


def plan(s=0, length=100, shape="<line/>"):
    return road(plan=GEOMETRY.format(s=s, length=length, shape=shape))


def lane(kind="driving", link="", width=WIDTH):
    return LANE.format(kind=kind, link=link, width=width)


def seen_by_client(data: bytes) -> list[object] | None:
    """Road ids and whether all places are numbers; None where the client raises or crashes."""
    done = subprocess.run([sys.executable, "-c", ASK_CLIENT], input=data, capture_output=True, timeout=60, check=False)
    found: list[object] | None = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    return found


REFUSED = {
    "ids 'A' and 'B' as the same road": ([road(number="A"), road(number="B")], [[0], True]),
    "ids '1a' and '1' as the same road": ([road(number="1a"), road()], [[1], True]),
    "ids 'J' and 'K' as the same junction": ([road(), '<junction id="J"/><junction id="K"/>'], [[1], True]),
    "the <arc> at s 0 has no curvature": ([plan(shape='<arc curvature="0"/>')], [[1], False]),
    "the <spiral> at s 0 has one": ([plan(shape='<spiral curvStart="0.1" curvEnd="0.1"/>')], [[1], False]),
    "first <geometry> begins at s 10, not 0": ([plan(s=10, length=90)], None),
    "no <geometry> from s 60 to 100": ([plan(length=60)], [[1], True]),
    "first <laneOffset> begins at s 20": ([road(offset='<laneOffset s="20" a="1" b="0" c="0" d="0"/>')], None),
    "lane -1 begins at sOffset 5": ([road(right=lane(width=WIDTH.replace('sOffset="0"', 'sOffset="5"')))], None),
    "lane -1 has no <width>": ([road(right=lane(width=WIDTH.replace("width", "border")))], [[1], True]),
    "lane -1 has a negative width": ([road(right=lane(width=WIDTH.replace("3.5", "-3.5")))], [[1], True]),
    "no lane 0 in <center>": ([road().replace('<lane id="0" type="none"/>', "")], None),
    "names no signal": ([road(tail='<signals><signalReference id="7" s="1" t="0" orientation="+"/></signals>')], None),
    "leads to lane -9 of road '2'": (
        [
            road(
                before_lanes='<link><successor elementType="road" elementId="2" contactPoint="start"/></link>',
                right=lane(link='<successor id="-9"/>'),
            ),
            road(number="2"),
        ],
        None,
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_file_that_the_client_reads_differently_is_refused(words):
    parts, client = REFUSED[words]
    data = document(*parts)

    assert seen_by_client(data) == client
    with pytest.raises(OpenDriveRefused, match=r"^map\.xodr, line \d+, <(road|junction)>: ") as caught:
        read_network(data, "map.xodr")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "part", [road(number="A7"), road(number=" 007"), road(right=lane("Driving"))], ids=["text", "zeros", "case"]
)
def test_file_that_the_client_reads_equally_is_accepted(part):
    data = document(
        part, road(number="2", plan=GEOMETRY.format(s=0, length=100, shape="<line/>").replace('y="0"', 'y="50"'))
    )

    strips = lane_strips(read_network(data, "map.xodr"))

    assert seen_by_client(data) == [sorted(client_id(number) for number in {strip.road for strip in strips}), True]


@pytest.mark.parametrize(("text", "number"), [("0x1F", 31), ("-5", 0), ("1.5", 1), ("4294967297", 2**32 - 1), ("", 0)])
def test_ids_are_read_as_the_client_reads_them(text, number):
    assert client_id(text) == number
