"""CARLA's own map and nuScenes' own devkit on a town of the headless simulator."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from headless_simulator.towns.load import load_town
from scipy.ndimage import binary_dilation

from tests.maps.drawn import lane, road, section, text
from tests.maps.judges.map_areas import compare_areas
from tests.maps.judges.map_carla import compare
from uavsim.access.bev import bev_of_map
from uavsim.files.results import ResultPath
from uavsim.geometry.bev import BevFrame
from uavsim.maps.build import build
from uavsim.maps.files import expansion_files, write_files
from uavsim.maps.opendrive.read import read_network

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["Town03", "Town10HD"])
def test_lanes_equal_carlas_map(name):
    found = compare(load_town(name).opendrive.encode(), name, places=300, seed=1)
    assert found["missing"] == 0
    assert found["lanes"] > 50
    assert found["worst_m"] < 0.01
    assert found["worst_height_m"] < 0.01
    assert found["connectivity_differs"] == found["lights_differ"] == []
    assert found["areas_off"] < 0.005
    assert found["crossings_off"] < 0.005


@pytest.mark.parametrize("name", ["Town03", "Town10HD"])
def test_lane_areas_equal_their_integrals(name):
    found = compare_areas(load_town(name).opendrive.encode(), name)
    assert found["integral"]["judged"] == found["lanes"] > 50
    assert found["integral"]["worst"] < 0.005


def test_area_of_a_tapering_lane_equals_its_integral():
    ends = lane(-2, wide=0.6).replace('b="0" c="0"', 'b="-0.15" c="0.009375"')  # 0.6 (1 - s / 8)^2
    data = text(road("1", section(lane(-1), ends), length=8.0))
    found = compare_areas(data, "T")
    assert found["integral"]["judged"] == 2
    assert found["integral"]["worst"] < 0.003


def test_area_of_a_bend_after_a_tiny_piece_equals_its_integral():
    bend = '<geometry s="0.000004" x="0.000004" y="0" hdg="0" length="20"><arc curvature="0.09"/></geometry></planView>'
    data = text(road("1", section(lane(-1)), length=0.000004)).replace(b"</planView>", bend.encode())
    found = compare_areas(data.replace(b'id="1" length="4e-06"', b'id="1" length="20.000004"'), "T")
    assert found["integral"]["judged"] == 1
    assert found["integral"]["worst"] < 0.003


@pytest.mark.release
def test_devkit_reads_and_draws_every_layer(tmp_path):
    town = build(read_network(load_town("Town07").opendrive.encode(), name="Town07"), "Town07")
    write_files(ResultPath.open(tmp_path), expansion_files(town, "boston-seaport"))
    program = Path(__file__).with_name("judges") / "devkit_judge.py"
    command: list[str | Path] = [ROOT / ".venv-judge/bin/python", "-W", "ignore", program]
    done = subprocess.run(
        [*command, tmp_path, "boston-seaport", tmp_path / "figures"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["disconnected"] == 0
    assert max(found["joints"]) < 0.001  # metres, metres, radians
    assert found["closest_lane_worst_m"] < 0.6  # the devkit samples lanes every half metre
    assert found["mask"]["drivable_area"] > found["mask"]["lane"] > 1000
    assert found["layers"]["lane"] == len(town.layer("lane"))
    theirs = np.load(tmp_path / "figures/turned.npy") > 0
    ours = bev_of_map(
        town,
        ["drivable_area", "lane", "ped_crossing"],
        BevFrame(tuple(found["box"][:2]), np.radians(33.0), (200.0, 200.0)),
    )
    assert theirs.shape == ours.shape
    for one, other in (
        (ours, theirs),
        (theirs, ours),
    ):  # the devkit cuts corners down to whole pixels
        grown = binary_dilation(other, np.ones((1, 3, 3)), iterations=2)
        assert not (one & ~grown).any()
    assert min(mask.sum() for mask in ours) > 100
    assert (tmp_path / "figures/map.png").stat().st_size > 10_000
