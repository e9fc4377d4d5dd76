"""Oversized texts: each is refused before a process starts to build it."""

import pytest
from headless_simulator.errors import CallRefused
from headless_simulator.towns import apart, library
from headless_simulator.towns.apart import build_apart
from headless_simulator.towns.errors import OpenDriveRefused, TownRefused
from headless_simulator.towns.library import TownLibrary
from headless_simulator.towns.load import load_opendrive

from tests.towns.sample import document, road

LINE = '<geometry s="0" x="0" y="0" hdg="0" length="{0}"><line/></geometry>'
LANE = '<lane id="-{0}" type="driving"><width sOffset="0" a="3"/></lane>'
SIGNAL = '<signal s="1" t="0" id="{0}" type="1000001"/>'
LONG = road(length="99999", plan=LINE.format(99_999))
AT_ONCE = {
    "two roads of 99,999 m": document(LONG, LONG.replace('id="1"', 'id="2"', 1)),
    "a thousand lanes": document(road(right="".join(LANE.format(n) for n in range(1, 1001)))),
    "bent lanes without end": document(
        road(
            length="90000",
            plan='<geometry s="0" x="0" y="0" hdg="0" length="90000"><arc curvature="0.5"/></geometry>',
            right="".join(LANE.format(n) for n in range(1, 60)),
        )
    ),
    "6,000 signals": document(
        road().replace("</lanes>", "</lanes><signals>" + "".join(map(SIGNAL.format, range(6000))) + "</signals>")
    ),
    "a width of 10^300": document(road(right=LANE.format(1).replace('a="3"', 'a="1e300"'))),
    "a width that is no number": document(road(right=LANE.format(1).replace('a="3"', 'a="nan"'))),
    "an endless length": document(road(length="inf")),
    "a million elements": document(road(), "<x/>" * 1_000_000),
    "nested without end": document(road(), "<x>" * 1000 + "</x>" * 1000),
    "entities that double": b'<!DOCTYPE a [<!ENTITY b "ha">' + b'<!ENTITY c "&b;&b;">]>' + document(road()).split(b"\n", 1)[1],
    "an entity of the host": b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>' + document(road()).split(b"\n", 1)[1],
}  # fmt: skip
BUILT = {
    "one road of 99,999 m": document(LONG),
    "a lane as wide as a town": document(road(right=LANE.format(1).replace('a="3"', 'a="900"'))),
    "a hill up to the moon": document(
        road(before_lanes='<elevationProfile><elevation s="0" a="0" b="90000" c="0" d="0"/></elevationProfile>')
    ),
    "two roads far apart": document(
        road(), road(number="2", plan=LINE.format(100).replace('x="0"', 'x="900000"'))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AT_ONCE)
def test_excessive_files_are_refused_before_building(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "build_apart", lambda *_, **__: pytest.fail("work was begun"))
    with pytest.raises(CallRefused, match="cannot be used") as caught:
        TownLibrary(seed=0).take_opendrive(AT_ONCE[name].decode())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", BUILT)
def test_extent_is_checked_before_the_ground_is_built(name: str, tmp_path, monkeypatch) -> None:
    from headless_simulator.towns import assemble

    monkeypatch.setattr(assemble, "build_land", lambda *_: pytest.fail("work was begun"))
    (tmp_path / "map.xodr").write_bytes(BUILT[name])
    with pytest.raises(OpenDriveRefused):
        load_opendrive(tmp_path / "map.xodr")


def test_too_long_text_is_refused() -> None:
    with pytest.raises(CallRefused, match="characters, more than"):
        TownLibrary(seed=0).take_opendrive(" " * (25 << 20))


def test_town_built_in_another_process_is_equal(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "OpenDriveMap.xodr").write_bytes(document(road()))
    town = build_apart("OpenDriveMap", seed=0, opendrive=document(road()))
    assert town.opendrive == load_opendrive(tmp_path / "OpenDriveMap.xodr").opendrive
    assert len(town.spawn_points)
    with pytest.raises(TownRefused, match="unknown town 'Town99'"):
        build_apart("Town99", seed=0)
    with pytest.raises(TownRefused, match=r"its lanes cover 100\.0 x 0\.0 km"):
        build_apart("OpenDriveMap", seed=0, opendrive=BUILT["one road of 99,999 m"])


def test_town_build_timeout_is_reported(monkeypatch) -> None:
    monkeypatch.setattr(apart, "_WALL_FACTOR", 0.00003)
    with pytest.raises(TownRefused, match="takes more than"):
        build_apart("Town07", seed=0)
