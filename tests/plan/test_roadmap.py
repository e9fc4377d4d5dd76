"""Shapes worked out on paper; carla's own map reader is the judge of a whole file."""

import carla
import numpy as np
import pytest

from uavsim.errors import InputError
from uavsim.plan.roadmap import read_roads

LANES = """<lanes><laneSection s="0">
<left><lane id="1" type="driving"><width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane></left>
<center><lane id="0" type="none"/></center>
<right><lane id="-1" type="driving"><width sOffset="0" a="3.0" b="0" c="0" d="0"/></lane>
<lane id="-2" type="sidewalk"><width sOffset="0" a="9" b="0" c="0" d="0"/></lane></right></laneSection></lanes>"""


def xodr(*geometries, lanes=LANES):
    start, pieces, s = "<geometry s='{s}' x='{x}' y='{y}' hdg='{h}' length='{l}'>{kind}</geometry>", "", 0.0
    for x, y, h, length, kind in geometries:
        pieces += start.format(s=s, x=x, y=y, h=h, l=length, kind=kind)
        s += length
    return (
        "<?xml version='1.0'?><OpenDRIVE><header revMajor='1' revMinor='4'/>"
        f"<road name='r' id='1' junction='-1' length='{s}'><planView>{pieces}</planView>{lanes}</road></OpenDRIVE>"
    )


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "map.xodr"
        path.write_text(text)
        return read_roads(path)

    return read


def test_a_line_and_its_width(read):
    (road,) = read(xodr((10, 20, np.pi / 2, 8, "<line/>")))
    np.testing.assert_allclose(road.line_m, [[10, 20], [10, 22], [10, 24], [10, 26], [10, 28]], atol=1e-12)
    assert (road.left_m, road.right_m) == (3.5, 3.0)
    outline = road.outline_m
    assert outline[:, 0].min() == pytest.approx(6.5)  # left of north is west
    assert outline[:, 0].max() == pytest.approx(13.0)


def test_an_arc_worked_on_paper(read):
    quarter = 50 * np.pi / 2
    (road,) = read(xodr((0, 0, 0, quarter, "<arc curvature='0.02'/>")))
    np.testing.assert_allclose(road.line_m[-1], [50, 50], atol=0.01)


def test_polynomials(read):
    (road,) = read(xodr((0, 0, 0, 10, "<poly3 a='1' b='0' c='0.01' d='0'/>")))
    np.testing.assert_allclose(road.line_m[-1], [10, 2])
    cubic = "<paramPoly3 pRange='normalized' aU='0' bU='10' cU='0' dU='0' aV='0' bV='0' cV='0' dV='4'/>"
    (road,) = read(xodr((0, 0, 0, 11, cubic)))
    np.testing.assert_allclose(road.line_m[-1], [10, 4])


def test_all_kinds_against_carlas_reader(read):
    text = xodr(
        (0, 0, 0.3, 40, "<line/>"),
        (40 * np.cos(0.3), 40 * np.sin(0.3), 0.3, 30, "<spiral curvStart='0' curvEnd='0.03'/>"),
    )
    (road,) = read(text)
    waypoints = carla.Map("t", text).generate_waypoints(1.0)
    theirs = np.array([[w.transform.location.x, -w.transform.location.y] for w in waypoints if w.lane_id == -1])
    gap_m = np.linalg.norm(road.line_m[None] - theirs[:, None], axis=2).min(axis=1)
    assert abs(np.median(gap_m) - 1.5) < 0.2  # in the middle of the right lane, 3 m wide
    assert gap_m.max() < 1.9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not xml", "not OpenDRIVE"),
        ("<OpenDRIVE/>", "holds no road"),
        (xodr((0, 0, 0, 5, "<circle/>")), "geometry of no known kind"),
        (xodr((0, 0, 0, 5, "<arc/>")), "a road without its numbers"),
        (xodr((0, 0, "x", 5, "<line/>")), "a road without its numbers"),
        (xodr((0, 0, 0, 5e9, "<line/>")), "length"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><OpenDRIVE/>", "entities in XML are not read"),
    ],
)
def test_what_is_no_map(read, text, message):
    with pytest.raises(InputError, match=message):
        read(text)


def test_no_such_map(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_roads(tmp_path / "none.xodr")
