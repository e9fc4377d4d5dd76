"""Lanes as strips, in Unreal's axes (y south)."""

import numpy as np
import pytest
from headless_simulator.towns.strips import KERB_M, lane_strips
from headless_simulator.towns.xodr_reader import read_network

from tests.towns.sample import document, road


def strips(**more):
    return {strip.lane: strip for strip in lane_strips(read_network(document(road(**more)), "map.xodr"))}


def test_the_right_lane_of_an_eastward_road_lies_south():
    lane = strips()[-1]

    np.testing.assert_allclose(lane.inner_m[0], [0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(lane.outer_m[-1], [100, 3.5, 0], atol=1e-9)
    assert lane.forward == 1


def test_left_hand_traffic_runs_the_other_way():
    assert strips(extra='rule="LHT"')[-1].forward == -1


def test_a_strip_ends_exactly_where_its_road_ends():
    lane = strips(
        length="138.12345678", plan='<geometry s="0" x="0" y="0" hdg="0" length="138.12345678"><line/></geometry>'
    )

    assert lane[-1].s[0] == 0
    assert lane[-1].s[-1] == 138.12345678


def test_lane_offset_and_cubic_widths():
    got = strips(
        offset='<laneOffset s="0" a="1.5" b="0" c="0" d="0"/>',
        right='<lane id="-1" type="driving"><width sOffset="0" a="3" b="0" c="0.0006" d="-0.000004"/></lane>',
    )[-1]

    np.testing.assert_allclose(got.inner_m[:, 1], -1.5, atol=1e-12)  # 1.5 m to the left, which is north
    np.testing.assert_allclose(got.width_m, 3 + 0.0006 * got.s**2 - 0.000004 * got.s**3, atol=1e-9)
    chord = np.interp(np.linspace(0, 100, 301), got.s, got.outer_m[:, 1])
    true = -1.5 + 3 + 0.0006 * np.linspace(0, 100, 301) ** 2 - 0.000004 * np.linspace(0, 100, 301) ** 3
    assert np.abs(chord - true).max() < 0.025


def test_borders_instead_of_widths():
    lane = '<lane id="-1" type="driving"><width sOffset="0" a="3" b="0" c="0" d="0"/></lane>'
    shoulder = '<lane id="-2" type="shoulder"><border sOffset="0" a="-3.25" b="0" c="0" d="0"/></lane>'

    np.testing.assert_allclose(strips(right=lane + shoulder)[-2].outer_m[:, 1], 3.25)


def test_superelevation_tilts_about_the_reference_line():
    tilted = strips(before_lanes='<lateralProfile><superelevation s="0" a="0.1" b="0" c="0" d="0"/></lateralProfile>')[
        -1
    ]

    np.testing.assert_allclose(tilted.outer_m[:, 2], -3.5 * np.sin(0.1), atol=1e-12)
    np.testing.assert_allclose(tilted.outer_m[:, 1], 3.5 * np.cos(0.1), atol=1e-12)


def test_elevation_is_followed_to_two_centimetres():
    profile = '<elevationProfile><elevation s="0" a="2" b="0" c="0.003" d="0"/></elevationProfile>'
    got = strips(before_lanes=profile)[-1]
    s = np.linspace(0, 100, 501)

    assert np.abs(np.interp(s, got.s, got.centre_m[:, 2]) - (2 + 0.003 * s**2)).max() < 0.021


def test_sidewalks_are_raised_and_heights_are_honoured():
    walk = '<lane id="-2" type="sidewalk"><width sOffset="0" a="2"/>{}</lane>'
    drive = '<lane id="-1" type="driving"><width sOffset="0" a="3"/></lane>'

    assert strips(right=drive + walk.format(""))[-2].inner_m[0, 2] == pytest.approx(KERB_M)
    high = walk.format('<height sOffset="0" inner="0.3" outer="0.3"/>')
    assert strips(right=drive + high)[-2].inner_m[0, 2] == pytest.approx(0.3)


def test_arcs_have_more_stations_than_lines():
    arc = strips(
        length="31.4159", plan='<geometry s="0" x="0" y="0" hdg="0" length="31.4159"><arc curvature="0.1"/></geometry>'
    )

    assert len(arc[-1].s) > 8
    assert len(strips()[-1].s) < 20


def test_two_sections_join():
    two = (
        '<road id="1" length="50" junction="-1"><planView><geometry s="0" x="0" y="0" hdg="0" length="50"><line/></geometry>'
        '</planView><lanes><laneSection s="0"><center><lane id="0"/></center>'
        '<right><lane id="-1" type="driving"><width sOffset="0" a="3"/></lane></right></laneSection>'
        '<laneSection s="20"><center><lane id="0"/></center>'
        '<right><lane id="-1" type="driving"><width sOffset="0" a="3"/></lane>'
        '<lane id="-2" type="driving"><width sOffset="0" a="0" b="0.1"/></lane></right></laneSection></lanes></road>'
    )

    got = lane_strips(read_network(document(two), "map.xodr"))

    assert [(strip.section, strip.lane, strip.s[0], strip.s[-1]) for strip in got] == [
        (0, -1, 0, 20),
        (1, -2, 20, 50),
        (1, -1, 20, 50),
    ]
