"""Tracks with jumps, and wrong velocities."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from uavsim.validate.frames import AnnotationBoxes
from uavsim.validate.motion import nothing_jumps


def _turn(*, speed_mps: float, radius_m: float, every_s: float, offset_m: float = 0.0) -> Any:
    """Return data of a car that drives straight, a quarter circle, and straight; the sample in the turn is shifted along x."""
    along_m = speed_mps * every_s * np.arange(-3, 4) + radius_m * np.pi / 4
    length_m = radius_m * np.pi / 2
    heading = np.clip(along_m, 0.0, length_m) / radius_m
    before, after = np.minimum(along_m, 0.0), np.maximum(along_m - length_m, 0.0)
    centre = np.stack(
        [before + radius_m * np.sin(heading), radius_m * (1 - np.cos(heading)) + after, np.zeros_like(heading)], axis=1
    )
    centre[3, 0] += offset_m
    c, s, zero, one = np.cos(heading), np.sin(heading), np.zeros_like(heading), np.ones_like(heading)
    count = len(heading)
    boxes = AnnotationBoxes(
        centre_m=centre,
        rotation=np.stack([c, -s, zero, s, c, zero, zero, zero, one], axis=1).reshape(-1, 3, 3),
        half_lwh_m=np.full((count, 3), 1.0),
        velocity_mps=speed_mps * np.stack([c, s, zero], axis=1),
        time_s=np.arange(count) * np.float64(every_s),
        usable=np.ones(count, bool),
    )
    rows = np.arange(count)
    table = {
        "prev": rows - 1,
        "next": np.where(rows == count - 1, -1, rows + 1),
        "instance_token": np.zeros(count, np.int64),
    }
    return SimpleNamespace(data=_Data(table, [f"t{k}" for k in rows]), boxes=boxes)


class _Data:
    """A stub dataset for the checks of motion."""

    def __init__(self, table: dict[str, Any], tokens: list[str]) -> None:
        self._table = type("Table", (dict,), {"tokens": tokens})(table)

    def __getitem__(self, name: str) -> Any:
        return self._table

    def annotation_place(self, row: int) -> dict[str, str]:
        return {"scene": "scene_0000", "sample": f"s{row}"}


@pytest.mark.parametrize(("speed_mps", "radius_m"), [(8.0, 7.0), (11.0, 7.0), (11.5, 8.0)])
def test_hard_cornering_is_no_jump(speed_mps: float, radius_m: float) -> None:
    """At junctions, up to 18 m/s2 occur, with one sample per second."""
    for every_s in (0.5, 1.0):
        assert list(nothing_jumps(_turn(speed_mps=speed_mps, radius_m=radius_m, every_s=every_s))) == []


def test_jump_in_a_turn_is_found() -> None:
    (finding,) = nothing_jumps(_turn(speed_mps=11.0, radius_m=7.0, every_s=1.0, offset_m=4.5))
    assert finding.code == "motion.jump"
    (finding,) = nothing_jumps(_turn(speed_mps=11.0, radius_m=7.0, every_s=0.5, offset_m=4.5))
    assert finding.code == "motion.jump"


def _crash(offset_m: float = 0.0) -> Any:
    """Return data of an accelerating lorry that crashes half a metre after its fourth sample."""
    scene = _turn(speed_mps=8.0, radius_m=1e6, every_s=0.5)
    x = np.array([22.33, 25.5, 29.22, 33.51, 34.17, 34.24, 34.24])
    scene.boxes.centre_m[:] = 0.0
    scene.boxes.centre_m[:, 0] = x
    scene.boxes.centre_m[3, 1] = offset_m
    scene.boxes.velocity_mps[:] = 0.0
    scene.boxes.velocity_mps[:, 0] = [5.73, 6.85, 7.96, 9.05, 0.92, 0.0, 0.0]
    return scene


def test_acceleration_until_a_crash_is_no_jump() -> None:
    assert list(nothing_jumps(_crash())) == []
    (finding,) = nothing_jumps(_crash(offset_m=3.5))
    assert finding.code == "motion.jump"


def _hit_and_driven_on(every_s: float) -> Any:
    """Return data of a bus that stops abruptly after its sixth sample and drives again before its last."""
    scene = _turn(speed_mps=8.2, radius_m=1e6, every_s=every_s)
    scene.boxes.velocity_mps[-1] *= 0.25
    scene.boxes.centre_m[-1] = scene.boxes.centre_m[-2] + 1.4 / 8.2 * scene.boxes.velocity_mps[-2]
    return scene


def test_bus_that_stops_and_starts_within_a_second_does_not_jump() -> None:
    assert list(nothing_jumps(_hit_and_driven_on(every_s=1.0))) == []
    (finding,) = nothing_jumps(_hit_and_driven_on(every_s=0.9))
    assert finding.code == "motion.jump"
