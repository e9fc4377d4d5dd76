import contextlib
import json
import math

import pytest
from headless_simulator.airsim import SettingsError, read_settings
from hypothesis import given
from hypothesis import strategies as st

DOCUMENTED = """
{
  "SettingsVersion": 1.2,
  "SeeDocsAt": "https://github.com/Microsoft/AirSim/blob/main/docs/settings.md",
  "SimMode": "Multirotor",
  "ClockSpeed": 2.5,
  "ViewMode": "NoDisplay",
  "OriginGeopoint": {"Latitude": 1.5, "Longitude": 2.5, "Altitude": 3.5},
  "Wind": {"X": 1, "Y": 2, "Z": 3},
  "SegmentationSettings": {"InitMethod": "None"},
  "CameraDefaults": {"CaptureSettings": [
    {"ImageType": 0, "Width": 800, "Height": 450, "FOV_Degrees": 70, "MotionBlurAmount": 0},
    {"ImageType": -1, "Width": 1}
  ]},
  "Vehicles": {
    "Drone1": {
      "VehicleType": "SimpleFlight", "X": 4, "Y": -2, "Z": -1, "Yaw": 90, "EnableCollisions": false,
      "Cameras": {"front": {"X": 0.5, "Pitch": -45, "Yaw": 180,
                  "CaptureSettings": [{"ImageType": 5, "Width": 320, "Height": 200}],
                  "Gimbal": {"Stabilization": 1, "Pitch": -30}}},
      "Sensors": {"Range": {"SensorType": 5, "Enabled": true, "MaxDistance": 12},
                  "Off": {"SensorType": 6, "Enabled": false}}
    },
    "Ghost": {"VehicleType": "SimpleFlight", "AutoCreate": false}
  }
}
"""


def test_documented_settings_are_read() -> None:
    settings = read_settings(DOCUMENTED)
    (drone,) = settings.vehicles
    front = drone.cameras["front"]
    assert settings.clock_speed == 2.5
    assert settings.origin_geo == (1.5, 2.5, 3.5)
    assert settings.wind_mps == (1, 2, 3)
    assert not settings.initial_segmentation_ids
    assert (drone.name, drone.position_m, drone.yaw_deg, drone.collisions) == ("Drone1", (4, -2, -1), 90, False)
    assert (front.position_m, front.pitch_deg, front.yaw_deg) == ((0.5, 0, 0), -45, 180)
    assert (front.captures[0].width_px, front.captures[0].fov_deg) == (800, 70), "defaults go down to each camera"
    assert (front.captures[5].width_px, front.captures[5].height_px) == (320, 200)
    assert (front.captures[1].width_px, front.captures[1].height_px) == (256, 144), "AirSim's own default"
    assert front.gimbal[0] == 1
    assert math.isnan(front.gimbal[1])
    assert set(drone.sensors) == {"barometer", "imu", "gps", "magnetometer", "Range"}


def test_empty_settings_give_one_drone() -> None:
    settings = read_settings("{}")
    assert [v.name for v in settings.vehicles] == ["SimpleFlight"]
    assert settings.flies
    assert not settings.has_vehicles


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON: line 1"),
        ("[]", "JSON object"),
        ('{"SimMode": "Car"}', "SimMode 'Car'"),
        ('{"ClockSpeed": 0}', "ClockSpeed"),
        ('{"ClockSpeed": "fast"}', "ClockSpeed must be a number"),
        ('{"ClockSpeed": true}', "ClockSpeed must be a number"),
        ('{"Vehicles": {"A": {"VehicleType": "PX4Multirotor"}}}', "PX4Multirotor"),
        ('{"Vehicles": []}', "Vehicles must be an object"),
        ('{"Vehicles": {"A": {"Sensors": {"x": {"SensorType": 9}}}}}', "SensorType 9"),
        ('{"CameraDefaults": {"CaptureSettings": [{"ImageType": 0, "Width": 0}]}}', "0x144 must be 1 to"),
        ('{"CameraDefaults": {"CaptureSettings": [{"ImageType": 0, "FOV_Degrees": 180}]}}', "FOV_Degrees"),
        ('{"CameraDefaults": {"CaptureSettings": [{"ImageType": 77}]}}', "ImageType 77"),
    ],
)
def test_invalid_settings_name_the_key(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        read_settings(text)
    assert "\n" not in str(caught.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-5, 500) | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["Vehicles", "Cameras", "SimMode", "ClockSpeed", "X", "CaptureSettings", "Sensors", "A"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_refused(value) -> None:
    with contextlib.suppress(SettingsError):
        read_settings(json.dumps(value))
