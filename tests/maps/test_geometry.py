"""Roads calculated by hand, and the standard's formulas by independent methods."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import fresnel

from tests.maps.drawn import lane, network, one, road, section
from uavsim.maps.arclines import fit_arcs
from uavsim.maps.lanes import lane_pieces

RIGHT = section(lane(-1))


def test_line_runs_along_its_heading():
    points, heading = one(RIGHT, x=10, y=20, heading=np.pi / 2).plan(np.array([0.0, 8.0]))
    np.testing.assert_allclose(points, [[10, 20], [10, 28]], atol=1e-12)
    np.testing.assert_allclose(heading, np.pi / 2)


def test_quarter_circle_ends_a_radius_ahead_and_to_the_left():
    points, heading = one(RIGHT, length=25 * np.pi, shape='<arc curvature="0.02"/>').plan(np.array([25 * np.pi]))
    np.testing.assert_allclose(points, [[50, 50]], atol=1e-9)
    np.testing.assert_allclose(heading, np.pi / 2)


def test_spiral_equals_fresnel_integrals():
    long, end = 80.0, 0.05
    s = np.linspace(0, long, 7)
    points, heading = one(RIGHT, length=long, shape=f'<spiral curvStart="0" curvEnd="{end}"/>').plan(s)
    scale = np.sqrt(np.pi * long / end)
    sine, cosine = fresnel(s / scale)
    np.testing.assert_allclose(points, np.stack([cosine, sine], axis=1) * scale, atol=1e-9)
    np.testing.assert_allclose(heading, s**2 * end / long / 2)


def test_poly3_uses_s_as_curve_length():
    xy_m = one(RIGHT, length=60.0, shape='<poly3 a="0" b="0" c="0.01" d="0"/>').plan(np.array([40.0]))[0][0]
    length, _ = quad(lambda u: np.hypot(1, 0.02 * u), 0, xy_m[0])
    assert length == pytest.approx(40.0, abs=1e-3)
    assert xy_m[1] == pytest.approx(0.01 * xy_m[0] ** 2)


def test_param_poly3_ends_at_its_last_parameter():
    cubic = '<paramPoly3 aU="0" bU="40" cU="0" dU="0" aV="0" bV="0" cV="20" dV="0" pRange="normalized"/>'
    length, _ = quad(lambda p: np.hypot(40, 40 * p), 0, 1)
    points, heading = one(RIGHT, length=length, shape=cubic).plan(np.array([0.0, length]))
    np.testing.assert_allclose(points, [[0, 0], [40, 20]], atol=1e-9)
    np.testing.assert_allclose(heading, [0, np.pi / 4], atol=1e-9)


def test_height_tilt_and_offset_move_a_lane():
    tilted = one(
        RIGHT,
        elevation='<elevation s="0" a="5" b="0.1" c="0" d="0"/>',
        lateral='<superelevation s="0" a="0.1" b="0" c="0" d="0"/>',
        offset='<laneOffset s="0" a="2" b="0" c="0" d="0"/>',
    )
    borders = tilted.borders_m(tilted.sections[0], np.array([10.0]))
    assert (borders[0][0], borders[-1][0]) == pytest.approx((2.0, -1.5))
    np.testing.assert_allclose(
        tilted.xyz(np.array([10.0]), borders[-1]), [[10, -1.5 * np.cos(0.1), 6 - 1.5 * np.sin(0.1)]]
    )


def pieces_of(*args, **kwargs):
    return {piece.lane.id: piece for piece in lane_pieces(network(road("1", *args, **kwargs)))}


@pytest.mark.parametrize(("rule", "right_goes", "left_edge"), [("RHT", 0.0, 0.0), ("LHT", np.pi, -3.5)])
def test_direction_of_traffic_follows_the_rule(rule, right_goes, left_edge):
    piece = pieces_of(section(lane(1), lane(-1)), rule=rule)[-1]
    assert np.cos(piece.yaw_rad[0] - right_goes) == pytest.approx(1.0)
    assert piece.left_m[0, 1] == pytest.approx(left_edge)


def test_border_elements_are_positions_not_widths():
    bordered = '<lane id="-1" type="driving"><border sOffset="0" a="-3" b="0" c="0" d="0"/></lane>'
    assert pieces_of(section(bordered))[-1].right_m[0, 1] == pytest.approx(-3.0)


def test_lane_height_is_added_to_the_road():
    walk = pieces_of(section(lane(-1, "sidewalk", inside='<height sOffset="0" inner="0.1" outer="0.2"/>')))[-1]
    assert (walk.left_m[0, 2], walk.right_m[0, 2]) == pytest.approx((0.1, 0.2))


def test_arcs_stay_within_a_centimetre_of_a_widening_spiral():
    widening = lane(-1).replace('b="0"', 'b="0.02"', 1)
    (piece,) = pieces_of(section(widening), length=80.0, shape='<spiral curvStart="0" curvEnd="0.04"/>').values()
    arcs = fit_arcs([(piece.centre_m[:, :2], piece.yaw_rad)])
    assert len(arcs.lane) < len(piece.s_m)
    (path,) = arcs.records(1)
    ends = np.array([arc["end_pose"] for arc in path])
    starts = np.array([arc["start_pose"] for arc in path])
    np.testing.assert_allclose(ends[:-1, :2], starts[1:, :2], atol=1e-6)
    walked = np.concatenate([_points(arc) for arc in path])
    gaps = np.min(np.linalg.norm(piece.centre_m[:, None, :2] - walked[None], axis=2), axis=1)
    assert gaps.max() < 0.01


def _points(arc):
    """Return points of an arc by summing straight steps of about a millimetre."""
    first, straight, _ = arc["segment_length"]
    bent = 0.0 if straight else (1.0 if arc["shape"] == "LSL" else -1.0) / arc["radius"]
    length = first + straight
    steps = int(length / 0.01) + 2
    x, y, yaw = arc["start_pose"]
    headings = yaw + bent * (np.arange(steps) + 0.5) * length / steps
    moves = np.stack([np.cos(headings), np.sin(headings)], axis=1) * length / steps
    return np.concatenate([[[x, y]], [x, y] + np.cumsum(moves, axis=0)])
