"""Detections calculated by hand: a car drives along x, 30 m ahead of a radar that also moves along x."""

import numpy as np

from uavsim.capture.proofs import PosedReading
from uavsim.capture.radar import OwnedDetections
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.images import points, radar
from uavsim.records.radar import RadarParams
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.records.sensors import Agent, Sensor, SensorSpec
from uavsim.simulate.ports import Reading, SensorPose

CAR = ActorInfo(4, 91, "vehicle", "vehicle.audi.tt", "car", (2.0, 1.0, 0.75), SE3.identity(), 14)
NOSE = SensorSpec("NOSE", (0.0,) * 3, (0.0,) * 3, RadarParams(100.0, 6000, 60.0, 20.0, 1), ("radar",))


def _prove(flu_m: list[list[float]], *, car_mps: list[float], radar_mps: list[float]) -> dict[str, np.ndarray]:
    states = ActorStates(
        np.array([4]),
        SE3(quaternion.IDENTITY[None], np.array([[30.0, 0.0, 0.0]])),
        np.zeros((1, 3)),
        np.array([car_mps]),
        np.zeros((1, 3)),
        np.zeros((1, 3)),
    )
    pose = SensorPose(Sensor(Agent(0), NOSE), np.zeros(3), (0.0, 0.0, 0.0), SE3.identity(), np.array(radar_mps))
    returns = np.zeros(len(flu_m), points.RETURN)
    returns["flu_m"] = np.reshape(flu_m, (-1, 3))
    taken = [PosedReading(pose, Reading("RADAR_NOSE_id_0", "radar", returns))]
    return OwnedDetections([CAR]).prove(taken, states)["RADAR_NOSE_id_0"]


def test_speed_relative_to_the_radar_and_over_ground() -> None:
    """The car drives away at 12 m/s and the radar follows at 5 m/s: the range rate is 7 m/s."""
    data = _prove([[28.0, 0.0, 0.0]], car_mps=[12.0, 0.0, 0.0], radar_mps=[5.0, 0.0, 0.0])
    found = data["radar"]
    assert found[["vx", "vy", "vx_comp", "vy_comp", "dyn_prop"]].tolist() == [(7.0, 0.0, 12.0, 0.0, radar.MOVING)]
    assert data["radar_instance"].tolist() == [[4, 14]]


def test_speed_is_measured_along_the_ray() -> None:
    """The car crosses at 12 m/s and has no radial speed along x; the town approaches at 5 m/s."""
    data = _prove([[28.0, 0.0, 0.0], [3.0, 4.0, 0.0]], car_mps=[0.0, 12.0, 0.0], radar_mps=[5.0, 0.0, 0.0])
    crossing, wall = data["radar"]
    assert (crossing["vx_comp"], crossing["vy_comp"], crossing["vx"]) == (0.0, 0.0, -5.0)
    assert crossing["dyn_prop"] == radar.APPROACHING
    # the ray to the wall is (0.6, 0.8): 5 m/s along x are 3 along it, of which 1.8 are along x and 2.4 along y
    np.testing.assert_allclose([wall["vx"], wall["vy"], wall["vx_comp"]], [-1.8, -2.4, 0.0], atol=1e-6)
    assert wall["dyn_prop"] == radar.STANDING
    assert data["radar_instance"].tolist() == [[4, 14], [0, 0]]


def test_rcs_depends_on_the_area_that_faces_the_radar() -> None:
    """The rear has 2 m by 1.5 m = 3 m^2, which is 4.8 dB, plus 3 dB for a car; a wall has 0 dBsm."""
    found = _prove([[28.0, 0.0, 0.0], [3.0, 4.0, 0.0]], car_mps=[0.0] * 3, radar_mps=[0.0] * 3)["radar"]
    np.testing.assert_allclose(found["rcs"], [10 * np.log10(3.0) + 3.0, 0.0], atol=1e-5)


def test_no_detections() -> None:
    data = _prove([], car_mps=[0.0] * 3, radar_mps=[0.0] * 3)
    assert data["radar"].shape == (0,)
    assert data["radar_instance"].shape == (0, 2)
