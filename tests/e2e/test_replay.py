"""Replays and twins from the command line on the headless simulator."""

from pathlib import Path

import pytest
from headless_simulator.testing import RunningSimulator

from tests.e2e.command import succeed, uavsim
from tests.e2e.flights import Flights
from tools.common.leftovers import dataset_files


def test_replay_has_the_same_bytes(flights: Flights, simulator: RunningSimulator, tmp_path: Path) -> None:
    source, again, where = flights.small(), tmp_path / "again", ("--simulator", simulator.carla)
    succeed("replay", source, "--out", again, *where, "--no-check")  # equal bytes need no second check
    assert dataset_files(again) == dataset_files(source)
    wrong = uavsim("replay", tmp_path, "--out", tmp_path / "new", *where)
    assert wrong.returncode == 2
    assert len(wrong.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.release
def test_replay_of_a_replay_and_twin_show_changes(
    flights: Flights, simulator: RunningSimulator, tmp_path: Path
) -> None:
    source, again, less = flights.small(), tmp_path / "again", tmp_path / "less"
    where = ("--simulator", simulator.carla)
    succeed("replay", source, "--out", again, *where, "--no-check")
    succeed("replay", again, "--out", less, *where, "--hide", "3", "--weather", "night")
    assert dataset_files(less).keys() == dataset_files(source).keys()
    assert all(
        digest != dataset_files(source)[key]
        for key, digest in dataset_files(less).items()
        if key.startswith("samples/CAM")
    )
    skin = 'textures: [{objects: ["Building*"]}]\nvehicle_colours: {}\nsun_altitude_deg: [20, 20]\n'
    (tmp_path / "mine.yaml").write_text(skin)
    succeed("twins", source, "--out", tmp_path / "twins", *where, "--skin", tmp_path / "mine.yaml")
    before, dressed = dataset_files(source), dataset_files(tmp_path / "twins/skin-mine-0")
    assert set(dressed) - set(before) == {"v1.0-mini/skin.json"}
    same = {key for key in before if dressed[key] == before[key]}
    assert {key for key in before if key.startswith("masks/")} <= same
    assert not {key for key in before if key.startswith("samples/CAM")} & same
