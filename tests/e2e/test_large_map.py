"""A scene of a large map: streamed round the spectator, which follows the swarm, far from the town's origin."""

from pathlib import Path

from headless_simulator.testing import running_simulator

import uavsim
from tests.e2e.command import uavsim as command


def test_a_scene_of_town12_is_valid(tmp_path: Path) -> None:
    asked = ("--dataset", "smoke-large-maps", "--town", "Town12", "--scenes", "800", "--samples", "2")
    small = ("--rig", "nadir_small", "--formation", "three")

    with running_simulator("--town", "Town12", "--no-airsim", "--behaviour", "large-map=streamed") as simulator:
        done = command("generate", *asked, *small, "--out", tmp_path / "out", "--simulator", simulator.carla)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "60 of 60 vehicles" in done.stderr
    assert "valid" in done.stdout.splitlines()
    scene = uavsim.open(tmp_path / "out").scene("scene_0800")
    assert len(scene.samples) == 2
