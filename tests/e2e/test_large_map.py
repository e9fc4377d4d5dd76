"""A scene of a large map far from the town's origin, streamed around a spectator or hero that follows the swarm."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from headless_simulator.testing import RunningSimulator, running_simulator

import uavsim
from tests.e2e.command import uavsim as command
from tools.common import ROOT

pytestmark = pytest.mark.release


@pytest.fixture(scope="module")
def large() -> Iterator[RunningSimulator]:
    with running_simulator("--town", "Town12", "--no-airsim", "--behaviour", "large-map=streamed") as running:
        yield running


@pytest.mark.parametrize("streaming", [{}, {"hero": "vehicle.tesla.model3", "spectator_as_ego": False}])
def test_a_scene_of_town12_is_valid(large: RunningSimulator, tmp_path: Path, streaming: dict[str, object]) -> None:
    town = yaml.safe_load((ROOT / "town_configs/town12.yaml").read_text())
    town["streaming"] |= streaming
    (tmp_path / "own/town_configs").mkdir(parents=True)
    (tmp_path / "own/town_configs/town12.yaml").write_text(yaml.safe_dump(town))
    arguments = ("--dataset", "smoke-large-maps", "--town", "Town12", "--scenes", "800", "--samples", "2")
    small = ("--rig", "nadir_small", "--formation", "three")

    done = command(
        "generate", *arguments, *small, "--out", tmp_path / "out", "--simulator", large.carla,
        env=os.environ | {"UAVSIM_PLANS": str(tmp_path / "own")},
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "60 of 60 vehicles" in done.stderr
    assert "valid" in done.stdout.splitlines()
    scene = uavsim.open(tmp_path / "out").scene("scene_0800")
    assert len(scene.samples) == 2
