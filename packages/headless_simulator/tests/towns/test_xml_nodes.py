"""XML elements with lines: every refusal names file, line and element."""

import pytest
from headless_simulator.towns.errors import OpenDriveRefused
from headless_simulator.towns.xml_nodes import parse_xml

TEXT = b"""<?xml version="1.0"?>
<road id="7" length="12.5" lanes="2" junction="">
  <link/>
  <name>Elm <![CDATA[& Oak]]></name>
  <link rule=" RHT "/>
</road>
"""


def test_elements_by_tag_in_order_with_their_lines():
    road = parse_xml(TEXT, "a.xodr")
    assert (road.tag, road.line) == ("road", 2)
    assert [node.line for node in road.all("link")] == [3, 5]
    first = road.first("link")
    assert first is not None
    assert first.line == 3
    assert road.first("lane") is None
    name = road.first("name")
    assert name is not None
    assert name.text == "Elm & Oak"


def test_attributes_are_converted():
    road = parse_xml(TEXT, "a.xodr")
    assert road.integer("lanes") == 2
    assert road.number("length") == 12.5
    assert road.number("junction", -1.0) == -1.0  # empty counts as left out
    assert [node.word("rule", "LHT") for node in road.all("link")] == ["LHT", "RHT"]


@pytest.mark.parametrize(
    ("read", "why"),
    [
        (lambda road: road.word("rule"), "attribute 'rule' is missing"),
        (lambda road: road.number("rule"), "attribute 'rule' is missing"),
        (lambda road: road.integer("length"), "attribute 'length' is 12.5, not a whole number"),
        (lambda road: road.number("name"), "attribute 'name' is missing"),
    ],
)
def test_a_refusal_names_the_place(read, why):
    with pytest.raises(OpenDriveRefused, match=why) as refused:
        read(parse_xml(TEXT, "a.xodr"))
    assert "a.xodr" in str(refused.value)
    assert "2" in str(refused.value)


@pytest.mark.parametrize("value", ["nan", "inf", "-1e999", "twelve", "0x10"])
def test_non_finite_numbers_are_refused(value):
    with pytest.raises(OpenDriveRefused, match="'length'"):
        parse_xml(f'<road length="{value}"/>'.encode(), "a.xodr").number("length")


@pytest.mark.parametrize("data", [b"", b"<road>", b"<road></lane>", b"<a/><b/>", b"\xff\xfe", b'<a b="1" b="2"/>'])
def test_invalid_documents_are_refused(data):
    with pytest.raises(OpenDriveRefused, match=r"XML|no element"):
        parse_xml(data, "a.xodr")
