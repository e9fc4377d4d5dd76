"""Reading of OpenDRIVE files, and refusal of invalid files."""

import numpy as np
import pytest
from headless_simulator.towns.errors import OpenDriveRefused
from headless_simulator.towns.xodr_reader import read_network

from tests.towns.sample import document, road


def read(*parts, **more):
    return read_network(document(*parts, **more), "map.xodr")


REFUSED = [
    (b"<OpenDRIVE><road></OpenDRIVE>", 1, "road", "not well-formed"),
    (b"", 1, "document", "not well-formed"),
    (b"<osm/>", 1, "osm", "not an OpenDRIVE file"),
    (document(), 2, "OpenDRIVE", "no road with a driving lane"),
    (document(road(length="long")), 3, "road", "'length' is 'long', not a number"),
    (document(road(length="nan")), 3, "road", "must be finite"),
    (document(road(length="-3")), 3, "road", "must be between 0"),
    (document(road(plan="")), 5, "planView", "no <geometry>"),
    (document(road(plan='<geometry s="0" x="0" y="0" hdg="0" length="9"/>')), 6, "geometry", "one of line, arc"),
    (
        document(road(plan='<geometry s="0" x="0" y="0" length="9"><line/></geometry>')),
        6,
        "geometry",
        "'hdg' is missing",
    ),
    (
        document(road(plan='<geometry s="0" x="0" y="0" hdg="0" length="9"><arc/></geometry>')),
        6,
        "arc",
        "'curvature' is missing",
    ),
    (document(road(right='<lane id="-2" type="driving"/>')), 9, "laneSection", "without gaps"),
    (document(road(right='<lane id="1" type="driving"/>')), 12, "lane", "cannot be in <right>"),
    (document(road(), road()), 17, "road", "two roads have the id '1'"),
    (
        document(road(before_lanes='<link><successor elementType="road" elementId="9" contactPoint="start"/></link>')),
        3,
        "road",
        "successor of road '1' is road '9', not in the file",
    ),
    (
        document(road(before_lanes='<type s="0" type="town"><speed max="30" unit="knots"/></type>')),
        4,
        "speed",
        "unit 'knots' is unknown",
    ),
    (
        document(road(), '<junction id="5"><connection id="0" incomingRoad="1" connectingRoad="77"/></junction>'),
        17,
        "connection",
        "connectingRoad '77' is not in the file",
    ),
]


REFUSED.append((b"<?xml version='1.0' encoding='zlib_codec'?><a/>", 1, "document", "its encoding cannot be read"))


@pytest.mark.parametrize(("data", "line", "element", "words"), REFUSED)
def test_a_refusal_names_element_and_line(data, line, element, words):
    with pytest.raises(OpenDriveRefused) as caught:
        read_network(data, "map.xodr")

    message = str(caught.value)
    assert message.startswith(f"map.xodr, line {line}, <{element}>: ")
    assert words in message
    assert "\n" not in message


def test_truncated_file_is_refused():
    text = document(road(before_lanes='<type s="0"><speed max="50" unit="km/h"/></type>'))

    for end in range(0, len(text) - 14, 7):
        with pytest.raises(OpenDriveRefused):
            read_network(text[:end], "map.xodr")


@pytest.mark.parametrize(
    ("speed", "kmh"),
    [
        ('max="30" unit="mph"', 48.28032),
        ('max="50" unit="km/h"', 50.0),
        ('max="10" unit="m/s"', 36.0),
        ('max="10"', 36.0),
        ('max="no limit"', 130.0),
    ],
)
def test_speed_limits_in_every_unit(speed, kmh):
    network = read(road(before_lanes=f'<type s="0" type="town"><speed {speed}/></type>'))

    assert network.roads["1"].speeds == ((0.0, pytest.approx(kmh)),)


def test_namespaces_unknown_elements_and_missing_profiles_are_accepted():
    network = read(
        road(before_lanes="<userData><anything/></userData>", tail="<railroad/>"),
        head='<OpenDRIVE xmlns="http://code.asam.net/simulation/standard/opendrive_schema"><header/><foo/>',
    )

    assert not network.roads["1"].elevation.present


def test_the_origin_is_read_from_the_projection():
    head = (
        "<OpenDRIVE><header><geoReference><![CDATA[+proj=tmerc +lat_0=49.5 +lon_0=-8.25 +k=1]]></geoReference></header>"
    )

    assert read(road(), head=head).georeference == (49.5, -8.25)
    assert read(road()).georeference == (42.0, 2.0)


def test_records_in_any_order_are_sorted():
    plan = (
        '<geometry s="60" x="60" y="0" hdg="0" length="40"><line/></geometry>'
        '<geometry s="0" x="0" y="0" hdg="0" length="60"><line/></geometry>'
    )
    lane = '<lane id="-1" type="driving"><width sOffset="50" a="4"/><width sOffset="0" a="3"/></lane>'

    got = read(road(plan=plan, right=lane)).roads["1"]

    assert [piece.s for piece in got.plan] == [0, 60]
    np.testing.assert_allclose(got.sections[0].lanes[-1].width.at(np.array([0.0, 49.0, 51.0])), [3, 3, 4])


def test_a_signal_without_validity_differs_from_one_for_no_lane():
    signals = (
        '<signals><signal id="a" s="1" t="0" type="1000001"/>'
        '<signal id="b" s="1" t="0" type="1000001"><validity fromLane="0" toLane="0"/></signal>'
        '<signalReference id="a" s="1" t="0"><validity fromLane="-2" toLane="-1"/></signalReference></signals>'
    )

    found = read(road(tail=signals)).roads["1"].signals

    assert [signal.lanes for signal in found] == [None, (), (-2, -1)]
