"""Walkers follow their control, with and without physics, and jump."""

import pytest
from headless_simulator.world.actors import SpawnOrder

from tests.world.paper_town import world

DT = 0.05


@pytest.fixture
def walking():
    w = world()
    walker = w.spawn(SpawnOrder("walker.pedestrian.0001", pose=(0.0, 0.0, 1.0, 0.0, 0.0, 0.0)))
    w.step(DT)
    return w, walker, w.table.c


@pytest.mark.parametrize("physics", [0, 1])
def test_walker_follows_its_control(walking, physics: int) -> None:
    w, walker, c = walking
    c.physics[walker.row] = physics
    c.stride[walker.row] = 0.0, 2.0, 0.0
    for _ in range(20):
        w.step(DT)
    assert c.pose[walker.row, 1] == pytest.approx(2.0)
    assert c.velocity[walker.row, 1] == pytest.approx(2.0)


@pytest.mark.parametrize("physics", [0, 1])
def test_jump_has_unreals_height_and_duration(walking, physics: int) -> None:
    """4.2 m/s up: 0.9 m high, 0.86 s long; it goes on while the control says so."""
    w, walker, c = walking
    c.physics[walker.row] = physics
    floor = float(c.pose[walker.row, 2])
    c.jump[walker.row] = 1
    heights = []
    for _ in range(40):
        w.step(DT)
        heights.append(float(c.pose[walker.row, 2]) - floor)
    assert max(heights) == pytest.approx(4.2**2 / 2 / 9.81, abs=0.02)
    landed = [tick for tick, height in enumerate(heights) if height == 0.0]
    assert landed[0] == pytest.approx(2 * 4.2 / 9.81 / DT, abs=1.5)
    assert max(heights[landed[0] :]) > 0.8, "it jumps again"
    c.jump[walker.row] &= 2
    for _ in range(40):
        w.step(DT)
    assert c.pose[walker.row, 2] == floor


def test_idle_walker_without_physics_stays_in_the_air(walking) -> None:
    w, walker, c = walking
    c.physics[walker.row] = 0
    w.teleport(walker, (0.0, 0.0, 20.0, 0.0, 0.0, 0.0))
    for _ in range(10):
        w.step(DT)
    assert c.pose[walker.row, 2] == 20.0
