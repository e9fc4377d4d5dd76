"""Invalid files: one line per fault with road and s; other roads stay unchanged."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.maps.drawn import lane, network, road, section, text
from uavsim.errors import InputError
from uavsim.maps.build import build
from uavsim.maps.expansion import expansion_json, read_expansion
from uavsim.maps.opendrive.read import read_network, read_opendrive

ARCS = "".join(
    f'<geometry s="{10 * k}" x="0" y="0" hdg="{3 * k}" length="10"><arc curvature="0.3"/></geometry>'
    for k in range(1, 30)
)
COIL = road("2", section(lane(-1)), length=300).replace("</planView>", f"{ARCS}</planView>")
GOOD = road("1", section(lane(-1)))
APART = '<geometry s="50" x="9" y="9" hdg="0" length="50"><line/></geometry></planView>'
GAP = road("2", section(lane(-1))).replace("</planView>", APART)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (road("2", section(lane(-1)), x="nan"), "road 2, s 0.00: the road is left out: geometry: x is out of range: nan"),
        (road("2", section(lane(-1)), length=-3), "the road is left out: a geometry is -3 m long"),
        (road("2", section(lane(-1)), shape="<circle/>"), "a geometry has an unknown shape"),
        (road("2", section(lane(-1)), shape="<arc/>"), "arc has no curvature"),
        (road("2"), "it has no lane section"),
        (road("2", section(lane(-1, wide="wide"))), "road 2, s 0.00: lane -1 is left out: width: a is 'wide', not a number"),
        (road("2", section(lane(-1, wide=1e6))), "lane -1 is left out: its width is impossible"),
        (road("2", section(lane(-1)), shape='<spiral curvStart="0" curvEnd="9"/>'), "a geometry makes too many turns"),
        (road("2", section(lane(-1)), shape='<arc curvature="3"/>'), "a geometry makes too many turns"),
        (COIL, "lane -1 is left out: it makes too many turns"),
        (road("1", section(lane(-1))), "road 1, s 0.00: a second road of this id is left out"),
        (
            road("2", section(lane(-1, inside='<speed sOffset="0" max="9" unit="knots"/>'))),
            "road 2, s 0.00: a speed limit is left out: in knots",
        ),
        (road("2", section(lane(-1, inside='<speed sOffset="0" max="fast"/>'))), "limit is left out: speed: max is 'fast'"),
        (
            GAP,
            "a gap of",
        ),
    ],
)  # fmt: skip
def test_faulty_part_is_left_out_and_named(broken, message):
    town = build(network(GOOD, broken), "T")
    assert len(town.layer("lane")) >= 1
    assert any(message in warning for warning in town.warnings), town.warnings


def test_junction_of_no_size_is_left_out():
    town = build(network(GOOD, road("2", section(lane(1), lane(-1)), x=300, shape="<paramPoly3/>", junction=5)), "T")
    assert [row["is_intersection"] for row in town.layer("road_segment").fields] == [False]


def test_road_that_leads_to_itself_terminates():
    ring = "".join(
        f'<{end} elementType="road" elementId="1" contactPoint="{at}"/>'
        for end, at in (("predecessor", "end"), ("successor", "start"))
    )
    town = build(network(road("1", section(lane(-1, before=-1, after=-1)), link=ring)), "T")
    ((token, (before, after)),) = town.connectivity.items()
    assert before == after == [token]


def test_links_to_missing_roads_are_ignored():
    lost = '<successor elementType="road" elementId="77" contactPoint="start"/>'
    town = build(network(road("1", section(lane(-1, after=-9)), link=lost)), "T")
    assert list(town.connectivity.values()) == [([], [])]


WHOLE = text(GOOD).decode()
HEAD, BODY = WHOLE.split("?>")
LONG = [road(number, section(lane(-1)), length=99_999) for number in range(60)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"not xml", "not OpenDRIVE"),
        (b"<OpenDRIVE/>", "has no usable road"),
        (text(road("2", section(lane(-1)), x="inf")), "has no usable road: road 2, s 0.00"),
        (f"{HEAD}?><!--{'x' * 100_001}--><!DOCTYPE a [<!ENTITY b 'c'>]>{BODY}".encode(), "document types"),
        (f"<?xml version='1.0' encoding='utf-16'?><!DOCTYPE a>{BODY}".encode("utf-16"), "document types"),
        (f"{HEAD}?><!DOCTYPE a [<!ATTLIST b c CDATA 'd'>]>{BODY}".encode(), "document types"),
        (f"{HEAD} encoding='zlib_codec'?>{BODY}".encode(), "'zlib_codec' is not a text encoding"),
        (text(GOOD, "<a>" * 100 + "</a>" * 100), "nested more than 100 deep"),
        (text(GOOD, *(f"<a{number}/>" for number in range(10_001))), "10,000 names"),
        (text(GOOD, f"<a b='{'x' * (5 << 20)}'/>"), "an element is too large"),
        (text(*LONG), "more than 5,000 km"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_file_is_refused_in_little_memory(data, message, tmp_path):
    path = tmp_path / "f.xodr"
    path.write_bytes(data)
    peak_mib, line = _read_in_a_process(path)
    assert line.startswith("InputError: f.xodr: ")
    assert message in line
    assert peak_mib < 600


@pytest.mark.parametrize(
    ("bound", "most", "message"),
    [
        ("opendrive.xml._MOST_PARTS", 20, "more than 20 elements and attributes in an element"),
        ("opendrive.xml._MOST_ELEMENTS", 20, "or 20 elements"),
        ("opendrive.read._MOST_BYTES", 5000, "its roads need more than 0 MB"),
        ("lanes._MOST_POINTS", 3, "3 points, of lanes"),
        ("areas._MOST_HOLES", -1, "more than -1 holes"),
    ],
)
def test_network_beyond_a_limit_is_refused(monkeypatch, bound, most, message):
    monkeypatch.setattr(f"uavsim.maps.{bound}", most)
    with pytest.raises(InputError, match=message):
        build(network(GOOD, road("2", section(lane(-1)))), "T")


_READ = """
import re
from pathlib import Path
from uavsim.errors import InputError
from uavsim.maps.build import build
from uavsim.maps.opendrive.read import read_opendrive

try:
    print(len(build(read_opendrive(Path("f.xodr")), "T").layer("road_segment")))
except InputError as error:
    print("InputError:", error)
print(int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) >> 10)
"""


def _read_in_a_process(path):
    done = subprocess.run([sys.executable, "-c", _READ], cwd=path.parent, capture_output=True, text=True, check=True)
    line, peak_mib = done.stdout.splitlines()
    return int(peak_mib), line


@pytest.mark.parametrize("kind", ["missing", "link to /dev/zero", "pipe"])
def test_only_a_regular_file_is_read(tmp_path, kind):
    path = tmp_path / "f.xodr"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind != "missing":
        path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match="cannot be read: No such file" if kind == "missing" else "not a regular file"):
        read_opendrive(path)


def test_reading_time_is_linear_in_geometries():
    def seconds(count):
        pieces = "".join(
            f'<geometry s="{s}" x="{s}" y="0" hdg="0" length="1"><line/></geometry>' for s in range(1, count)
        )
        whole = road("1", section(lane(-1)), length=count).replace(f'length="{count}"><line/>', 'length="1"><line/>')
        data, began = text(whole.replace("</planView>", f"{pieces}</planView>")), time.process_time()
        assert len(build(read_network(data, name="f"), "T").layer("lane")) == 1
        return time.process_time() - began

    assert seconds(16_000) < 8 * seconds(4_000)


def test_every_kind_of_road_is_read():
    town = build(read_network((Path(__file__).parent / "every_kind.xodr").read_bytes(), name="every.xodr"), "T")
    assert [w for w in town.warnings if "lane -2 is left out of the lanes" not in w] == []
    assert all(len(town.layer(name)) for name in town.layers)


@pytest.mark.parametrize("long_m", [1e-8, 1e-6, 1e-3])
def test_tiny_lane_round_trips(long_m):
    town = build(network(GOOD, road("2", section(lane(-1)), x=300, length=long_m)), "T")
    again = read_expansion(expansion_json(town), name="T")
    assert all(len(line) >= 2 for line in again.centre_lines_map_m().values())
    assert len(again.paths) == len(town.paths) >= 1
