"""Lines and arcs of procedural towns."""

import math

import pytest
from headless_simulator.towns.paths import Path, Pose, arc, connect, rounded, wrap
from hypothesis import assume, given
from hypothesis import strategies as st


def test_a_rounded_right_angle_is_shorter_by_what_the_corner_cuts():
    path = rounded([(0, 0), (50, 0), (50, 50)], 10.0)

    assert path.length_m == pytest.approx(100 - 20 + 10 * math.pi / 2)
    assert (path.end.x, path.end.y) == (pytest.approx(50), pytest.approx(50))


def test_too_tight_corner_is_refused():
    with pytest.raises(ValueError, match=r"corner 1 of a street is too tight"):
        rounded([(0, 0), (5, 0), (5, 50)], 10.0)


def test_trimming_keeps_the_middle():
    path = rounded([(0, 0), (50, 0), (50, 50)], 10.0)

    middle = path.trimmed(5.0, 7.0)

    assert middle.length_m == pytest.approx(path.length_m - 12)
    assert (middle.start.x, middle.start.y) == (pytest.approx(5), pytest.approx(0))
    assert (middle.end.x, middle.end.y) == (pytest.approx(50), pytest.approx(43))


def test_a_right_turn_is_line_arc_line():
    path = connect(Pose(0, 0, 0), Pose(20, -12, -math.pi / 2), 6.0)

    assert [round(bend, 6) for _, bend in path.pieces] == [0, round(-1 / 6, 6), 0]
    assert [round(length, 6) for length, _ in path.pieces] == [14, round(3 * math.pi, 6), 6]


def test_an_arc_turns_by_its_angle():
    end = arc(Pose(0, 0, 0), 10.0, math.pi / 2).end

    assert (end.x, end.y, end.heading_rad) == (pytest.approx(10), pytest.approx(10), pytest.approx(math.pi / 2))


@given(st.floats(5, 80), st.floats(-40, 40), st.floats(-2.2, 2.2), st.floats(-3.1, 3.1))
def test_connecting_path_ends_at_its_target(ahead, left, turn, heading):
    assume(abs(math.atan2(left, ahead)) < 1.2)
    start = Pose(3, 4, heading)
    c, s = math.cos(heading), math.sin(heading)
    end = Pose(3 + ahead * c - left * s, 4 + ahead * s + left * c, heading + turn)

    path = connect(start, end)

    assert isinstance(path, Path)
    assert math.hypot(path.end.x - end.x, path.end.y - end.y) < 1e-5
    assert abs(wrap(path.end.heading_rad - end.heading_rad)) < 1e-5
    assert all(length > 0 for length, _ in path.pieces)
