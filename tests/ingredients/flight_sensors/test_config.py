"""What cannot be is refused where it is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from uavsim.errors import ConfigError
from uavsim.ingredients.flight_sensors.records import FlightSensorsPlan
from uavsim.plan import plan_scenes

DATASET = "towns: {Town10HD: {scenes: 2}}\nformation: cross\nrig: uav3d\nsamples: 2\n"


def planned(tmp_path: Path, words: str) -> list[FlightSensorsPlan]:
    path = tmp_path / "own.yaml"
    path.write_text(DATASET + words)
    found = [plan.of(FlightSensorsPlan) for plan in plan_scenes(str(path))]
    return [one for one in found if one is not None]


def test_braces_ask_for_the_defaults(tmp_path: Path) -> None:
    one, other = planned(tmp_path, "flight_sensors: {imu: {}, gnss: {rate_hz: 10}}\n")
    assert one.imu is not None
    assert one.gnss is not None
    assert (one.imu.rate_hz, one.gnss.rate_hz, one.barometer) == (200.0, 10.0, None)
    assert one.seed != other.seed


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ("flight_sensors: {}\n", "names no sensor: give one of imu, gnss, barometer, magnetometer"),
        ("flight_sensors: {imu: {rate_hz: 300}}\n", "is 3333.333 us a reading; the nearest is 300.030003"),
        ("flight_sensors: {imu: {rate_hz: 5000}}\n", "1000"),
        ("topology: bridge\nflight_sensors: {imu: {}}\n", "flight_sensors need topology carla"),
        ("flight_sensors: {imo: {}}\n", "did you mean 'imu'"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, words: str, reported: str) -> None:
    with pytest.raises(ConfigError) as caught:
        planned(tmp_path, words)
    assert reported in str(caught.value)
    assert "own.yaml" in str(caught.value)
