"""Invalid settings are refused with their line."""

import importlib.util
from pathlib import Path

import pytest

from uavsim.errors import ConfigError
from uavsim.ingredients.flight_sensors import FlightSensorsPlan
from uavsim.plan import plan_scenes

DATASET = "towns: {Town10HD: {scenes: 2}}\nformation: cross\nrig: uav3d\nsamples: 2\n"


def planned(tmp_path: Path, words: str) -> list[FlightSensorsPlan]:
    path = tmp_path / "own.yaml"
    path.write_text(DATASET + words)
    found = [plan.of(FlightSensorsPlan) for plan in plan_scenes(str(path))]
    return [one for one in found if one is not None]


def test_braces_ask_for_the_defaults(tmp_path: Path) -> None:
    one, other = planned(tmp_path, "flight_sensors: {imu: {}, gnss: {rate_hz: 10}}\n")
    assert {kind: keys["rate_hz"] for kind, keys in one.drones.items()} == {"imu": 200.0, "gnss": 10.0}
    assert (one.vehicles, one.flown) == ({}, False)
    assert one.seed != other.seed


CARS = "traffic: {vehicles: 9}\nvehicles: {count: 1}\n"


def test_usual_rates_are_as_near_as_the_simulators_steps_allow(tmp_path: Path) -> None:
    words = CARS + "flight_sensors: {imu: {}, vehicles: {imu: {}, gnss: {}, barometer: {rate_hz: 10}}}\n"
    one, _ = planned(tmp_path, words)
    assert one.drones["imu"]["rate_hz"] == 200
    assert {kind: keys["rate_hz"] for kind, keys in one.vehicles.items()} == {"imu": 20, "gnss": 5, "barometer": 10}
    flown, _ = planned(tmp_path, "topology: bridge\nflight_sensors: {imu: {}, gnss: {}}\n")
    assert {kind: keys["rate_hz"] for kind, keys in flown.drones.items()} == {"imu": 20, "gnss": 5}
    assert flown.flown
    fine, _ = planned(tmp_path, "topology: bridge\nstep_s: 0.005\nflight_sensors: {imu: {}}\n")
    assert fine.drones["imu"]["rate_hz"] == 200


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ("flight_sensors: {}\n", "no sensor is configured; set one of imu, gnss, barometer, magnetometer"),
        ("flight_sensors: {imu: {rate_hz: 300}}\n", "is 3333.333 us per reading, not whole; nearest: 300.030003"),
        ("flight_sensors: {imu: {rate_hz: 5000}}\n", "1000"),
        (
            "topology: bridge\nflight_sensors: {imu: {rate_hz: 200}}\n",
            "rate_hz=200 is impossible: this motion is known only at the simulator's steps (topology bridge, every 0.05 s); "
            "the nearest is 20, or step_s: 0.005",
        ),
        (CARS + "flight_sensors: {vehicles: {imu: {rate_hz: 8}}}\n", "the nearest is 10"),
        (CARS + "flight_sensors: {vehicles: {imu: {rate_hz: 30}}}\n", "the nearest is 20"),
        (CARS + "recording: keyframes\nflight_sensors: {vehicles: {imu: {}}}\n", "imu needs the motion of every step"),
        ("flight_sensors: {vehicles: {imu: {}}}\n", "no car carries sensors in this dataset; set their number"),
        ("flight_sensors: {vehicles: {}}\n", "no sensor is configured"),
        ("flight_sensors: {imo: {}}\n", "did you mean 'imu'"),
        (
            "flight_sensors: {gnss: {origin_deg_m: [47.6, -122.1, 122]}}\n",
            "flight_sensors.gnss.origin_deg_m: unknown key",
        ),
        (CARS + "flight_sensors: {vehicles: {barometer: {origin_height_m: 9}}}\n", "origin_height_m: unknown key"),
    ],
)
def test_impossible_values_are_refused(tmp_path: Path, words: str, reported: str) -> None:
    with pytest.raises(ConfigError) as caught:
        planned(tmp_path, words)
    assert reported in str(caught.value)
    assert "step_s: 0.0333" not in str(caught.value)  # no step is a third of a microsecond
    assert "own.yaml" in str(caught.value)


def test_without_pyarrow_it_is_refused_where_it_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "pyarrow" else found(name, *more)
    )
    with pytest.raises(ConfigError, match=r"own\.yaml:5: flight_sensors: streams need pyarrow: "):
        planned(tmp_path, "flight_sensors: {imu: {}}\n")
