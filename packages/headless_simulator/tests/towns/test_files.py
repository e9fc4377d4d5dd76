"""OpenDRIVE files like those of CARLA's towns: editor artefacts, size, bends."""

import numpy as np
import pytest
from headless_simulator.towns.build import built_opendrive
from headless_simulator.towns.errors import OpenDriveRefused
from headless_simulator.towns.lanes_index import Lanes, speed_limits
from headless_simulator.towns.library import TownLibrary, opendrive_files
from headless_simulator.towns.limits import CLIENT, OPERATOR
from headless_simulator.towns.load import load_opendrive
from headless_simulator.towns.strips import lane_strips
from headless_simulator.towns.xodr_reader import read_network

from tests.towns.sample import document, road

WILD = '<lane id="-1" type="none"><width sOffset="0" a="0" b="0" c="-1.05e13" d="7.0e18"/></lane>'
LINE = '<geometry s="0" x="0" y="0" hdg="0" length="{0}"><line/></geometry>'


def with_empty_section(end_s: float) -> bytes:
    text = document(road()).decode()
    section = f'<laneSection s="{end_s}"><center><lane id="0"/></center><right>{WILD}</right></laneSection></lanes>'
    return text.replace("</lanes>", section, 1).encode()


def test_lane_widths_of_an_empty_section_are_ignored() -> None:
    length = read_network(document(road()), "map.xodr").roads["1"].length_m
    strips = lane_strips(read_network(with_empty_section(length), "Town03.xodr"))
    assert max(strip.width_m.max() for strip in strips) < 10


def test_excessive_lane_widths_are_refused() -> None:
    with pytest.raises(OpenDriveRefused, match="it must be at most"):
        read_network(with_empty_section(5.0), "Town03.xodr")


def test_operator_files_have_larger_limits(tmp_path) -> None:
    long = "".join(
        road(number=str(n), length="60000", plan=LINE.format(60_000).replace('y="0"', f'y="{500 * n}"'))
        for n in (1, 2, 3)
    )
    with pytest.raises(OpenDriveRefused, match="180 km long"):
        read_network(document(long), "map.xodr", CLIENT)
    assert len(read_network(document(long), "map.xodr", OPERATOR).roads) == 3
    (tmp_path / "Long.xodr").write_bytes(document(long))
    with pytest.raises(OpenDriveRefused, match="180 km long"):
        load_opendrive(tmp_path / "Long.xodr")
    with pytest.raises(Exception, match="cover 60"):  # roads are not too long for it, but no town is 60 km wide
        TownLibrary(seed=0, files=opendrive_files(tmp_path)).town("Long")


def test_large_file_prints_its_cost(tmp_path, capfd) -> None:
    (tmp_path / "Big.xodr").write_bytes(document(road()) + b"<!--" + b" " * (11 << 20) + b"-->")
    TownLibrary(seed=0).open_file(tmp_path / "Big.xodr")
    message = capfd.readouterr().err
    assert "Big: 11 MB of OpenDRIVE; building it takes minutes" in message
    assert "MB of memory" in message


def bent(curvature_1pm: float) -> bytes:
    """120 m straight, then a quarter of a circle or so."""
    plan = (
        '<geometry s="0" x="0" y="0" hdg="0" length="120"><line/></geometry>'
        f'<geometry s="120" x="120" y="0" hdg="0" length="30"><arc curvature="{curvature_1pm}"/></geometry>'
    )
    return document(road(length="150", plan=plan))


@pytest.mark.parametrize("radius_m", [12.0, 25.0, 60.0])
def test_bend_limits_of_files_allow_3_mps2(radius_m: float) -> None:
    network = read_network(bent(1 / radius_m), "map.xodr")
    lanes = Lanes(network, lane_strips(network))
    plain, signed = speed_limits(lanes), speed_limits(lanes, sign_bends=True)
    np.testing.assert_array_equal(plain[:, :2], signed[:, :2])
    most_kmh = 3.6 * (3.0 * (radius_m + 4)) ** 0.5
    in_bend, far_before = signed[signed[:, 0] > 125], signed[signed[:, 0] < 50]
    assert (in_bend[:, 2] <= most_kmh + 0.1).all()
    exact = np.minimum(3.6 * (3.0 * (radius_m - 4)) ** 0.5, plain[signed[:, 0] > 125, 2])
    assert (in_bend[:, 2] >= exact).all(), "not rounded down to a number for a sign"
    np.testing.assert_array_equal(far_before[:, 2], plain[plain[:, 0] < 50][:, 2])
    on_the_way = signed[(signed[:, 0] > 60) & (signed[:, 0] < 120)]
    order = np.argsort(on_the_way[:, 0])
    assert (np.diff(on_the_way[order, 2])[::2] <= 30).all(), "it slows down in steps that brakes can follow"


def test_built_file_has_bend_limits(tmp_path) -> None:
    town = built_opendrive(bent(1 / 12), name="Bent", file_name="Bent.xodr", seed=0, limits=CLIENT)
    assert town.speed_limits[:, 2].min() < 25
