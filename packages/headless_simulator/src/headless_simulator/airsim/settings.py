"""AirSim's settings.json, with AirSim's rules: unknown keys are ignored, missing ones get AirSim's defaults."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from headless_simulator.airsim.ned import Quat, Vec3, quat_from_euler

IMAGE_TYPES: Final = {
    "Scene": 0, "DepthPlanar": 1, "DepthPerspective": 2, "DepthVis": 3, "DisparityNormalized": 4,
    "Segmentation": 5, "SurfaceNormals": 6, "Infrared": 7, "OpticalFlow": 8, "OpticalFlowVis": 9,
}  # fmt: skip
IMAGE_TYPE_COUNT: Final = len(IMAGE_TYPES)
MAX_PIXELS: Final = 4096 * 4096  # a larger image is a mistake
SENSOR_TYPES: Final = {"barometer": 1, "imu": 2, "gps": 3, "magnetometer": 4, "distance": 5, "lidar": 6}
DEFAULT_SENSORS: Final = {
    "barometer": 1,
    "imu": 2,
    "gps": 3,
    "magnetometer": 4,
}  # name: SensorType, in every multirotor
FLYERS: Final = ("simpleflight", "")


class SettingsError(ValueError):
    """The settings file is invalid; the message names the key and the reason."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Size and field of view of one image type of a camera."""

    width_px: int = 256
    height_px: int = 144
    fov_deg: float = 90.0


@dataclass(frozen=True, slots=True)
class CameraSetting:
    """One camera: its mount on the body (metres, degrees, FRD body axes) and its captures."""

    position_m: Vec3 = (0.0, 0.0, 0.0)
    roll_deg: float = 0.0
    pitch_deg: float = 0.0
    yaw_deg: float = 0.0
    captures: tuple[Capture, ...] = (Capture(),) * IMAGE_TYPE_COUNT
    gimbal: tuple[float, float, float, float] = (0.0, math.nan, math.nan, math.nan)  # stabilization, roll, pitch, yaw

    @property
    def orientation(self) -> Quat:
        """The mount's rotation, wxyz."""
        return quat_from_euler(*(math.radians(a) for a in (self.roll_deg, self.pitch_deg, self.yaw_deg)))


@dataclass(frozen=True, slots=True)
class SensorSetting:
    """One sensor: AirSim's type number and its raw settings."""

    kind: int
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class VehicleSetting:
    """One vehicle: start pose relative to PlayerStart (NED metres, degrees; NaN yaw: that of PlayerStart)."""

    name: str
    position_m: Vec3 = (0.0, 0.0, 0.0)
    roll_deg: float = 0.0
    pitch_deg: float = 0.0
    yaw_deg: float = 0.0
    cameras: Mapping[str, CameraSetting] = field(default_factory=dict)
    sensors: Mapping[str, SensorSetting] = field(default_factory=dict)
    collisions: bool = True


@dataclass(frozen=True, slots=True)
class AirSimSettings:
    """The keys of settings.json that the headless simulator uses."""

    text: str = "{}"
    sim_mode: str = "Multirotor"
    clock_speed: float = 1.0
    vehicles: tuple[VehicleSetting, ...] = ()
    has_vehicles: bool = False  # named in the file, not AirSim's default
    external_cameras: Mapping[str, CameraSetting] = field(default_factory=dict)
    camera_defaults: CameraSetting = CameraSetting()
    default_sensors: Mapping[str, SensorSetting] = field(default_factory=dict)
    player_start_m: Vec3 | None = None  # Unreal's axes; None: see simulation.default_player_start
    origin_geo: tuple[float, float, float] = (47.641468, -122.140165, 122.0)
    wind_mps: Vec3 = (0.0, 0.0, 0.0)
    initial_segmentation_ids: bool = True
    recording_folder: str = ""
    recording_interval_s: float = 0.05
    time_of_day: Mapping[str, Any] = field(default_factory=dict)
    ideal_controller: bool = False  # see simple_flight

    @property
    def flies(self) -> bool:
        """True if physics runs; ComputerVision mode only has cameras."""
        return self.sim_mode != "ComputerVision"


def read_settings(text: str) -> AirSimSettings:
    """Read the text of a settings.json.

    Two keys are extensions. ``PlayerStart: {X, Y, Z}`` (metres in the town, Unreal's axes): AirSim takes PlayerStart from
    the level and ignores the key. ``FlightController``: "AirLib" is AirSim's controller, "Ideal" lacks the two defects that
    ``simple_flight`` describes.

    Raises:
        SettingsError: invalid JSON, a wrong type, or an unsupported mode or vehicle type.
    """
    try:
        raw = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        raise SettingsError(f"settings are not valid JSON: line {error.lineno}: {error.msg}") from error
    if not isinstance(raw, dict):
        raise SettingsError("settings must be a JSON object {...}")
    mode = _text(raw, "SimMode", "") or "Multirotor"
    if mode not in ("Multirotor", "ComputerVision"):
        raise SettingsError(f"SimMode '{mode}' is not served here: use Multirotor or ComputerVision")
    defaults = _camera(_child(raw, "CameraDefaults"), CameraSetting(), where="CameraDefaults")
    sensors = _sensors(_child(raw, "DefaultSensors"), where="DefaultSensors") or {
        name: SensorSetting(kind, {}) for name, kind in DEFAULT_SENSORS.items()
    }
    controller = _text(raw, "FlightController", "AirLib")
    if controller not in ("AirLib", "Ideal"):
        raise SettingsError(f"FlightController '{controller}' is not served here: use AirLib or Ideal")
    speed = _number(raw, "ClockSpeed", 1.0)
    if not (math.isfinite(speed) and 0 < speed <= 1000):
        raise SettingsError(f"ClockSpeed {speed} must be above 0 and at most 1000")
    recording, segmentation = _child(raw, "Recording"), _child(raw, "SegmentationSettings")
    geo, start = _child(raw, "OriginGeopoint"), _child(raw, "PlayerStart")
    settings = AirSimSettings(
        text=text or "{}",
        sim_mode=mode,
        clock_speed=speed,
        has_vehicles=bool(_child(raw, "Vehicles")),
        external_cameras=_cameras(_child(raw, "ExternalCameras"), defaults, where="ExternalCameras"),
        camera_defaults=defaults,
        default_sensors=sensors,
        player_start_m=_position(start) if start else None,
        origin_geo=(
            _number(geo, "Latitude", 47.641468),
            _number(geo, "Longitude", -122.140165),
            _number(geo, "Altitude", 122.0),
        ),
        wind_mps=_position(_child(raw, "Wind")),
        initial_segmentation_ids=_text(segmentation, "InitMethod", "").lower() != "none",
        recording_folder=_text(recording, "Folder", ""),
        recording_interval_s=_number(recording, "RecordInterval", 0.05),
        time_of_day=_child(raw, "TimeOfDay"),
        ideal_controller=controller == "Ideal",
    )
    return replace(settings, vehicles=_vehicles(raw, settings))


def _vehicles(raw: Mapping[str, Any], settings: AirSimSettings) -> tuple[VehicleSetting, ...]:
    children = _child(raw, "Vehicles")
    if not children:
        name = "SimpleFlight" if settings.flies else "ComputerVision"
        return (VehicleSetting(name, yaw_deg=math.nan, sensors=settings.default_sensors),)
    return tuple(
        read_vehicle(name, _child(children, name), settings)
        for name in children
        if _child(children, name).get("AutoCreate", True)
    )


def read_vehicle(name: str, raw: Mapping[str, Any], settings: AirSimSettings) -> VehicleSetting:
    """Read one entry of ``Vehicles``.

    Raises:
        SettingsError: unsupported vehicle type.
    """
    kind = _text(raw, "VehicleType", "").lower()
    if settings.flies and kind not in FLYERS:
        raise SettingsError(
            f"vehicle '{name}': VehicleType '{raw['VehicleType']}' is not served here: use SimpleFlight"
        )
    where = f"Vehicles.{name}"
    return VehicleSetting(
        name=name,
        position_m=_position(raw),
        roll_deg=_number(raw, "Roll", 0.0),
        pitch_deg=_number(raw, "Pitch", 0.0),
        yaw_deg=_number(raw, "Yaw", math.nan),
        cameras=_cameras(_child(raw, "Cameras"), settings.camera_defaults, where=f"{where}.Cameras"),
        sensors={**settings.default_sensors, **_sensors(_child(raw, "Sensors"), where=f"{where}.Sensors")},
        collisions=bool(raw.get("EnableCollisions", True)),
    )


def _cameras(raw: Mapping[str, Any], defaults: CameraSetting, *, where: str) -> dict[str, CameraSetting]:
    return {name: _camera(_child(raw, name), defaults, where=f"{where}.{name}") for name in raw}


def _camera(raw: Mapping[str, Any], defaults: CameraSetting, *, where: str) -> CameraSetting:
    captures = list(defaults.captures)
    for entry in raw.get("CaptureSettings", []):
        if not isinstance(entry, dict):
            raise SettingsError(f"{where}.CaptureSettings must be a list of objects")
        number = int(_number(entry, "ImageType", 0))
        if number < 0:  # -1 is the view window, which does not exist here
            continue
        if number >= IMAGE_TYPE_COUNT:
            raise SettingsError(f"{where}.CaptureSettings: ImageType {number} must be from 0 to {IMAGE_TYPE_COUNT - 1}")
        captures[number] = _capture(entry, captures[number], where=where)
    gimbal = _child(raw, "Gimbal")
    return CameraSetting(
        position_m=_position(raw, defaults.position_m),
        roll_deg=_number(raw, "Roll", defaults.roll_deg),
        pitch_deg=_number(raw, "Pitch", defaults.pitch_deg),
        yaw_deg=_number(raw, "Yaw", defaults.yaw_deg),
        captures=tuple(captures),
        gimbal=(
            _number(gimbal, "Stabilization", defaults.gimbal[0]),
            _number(gimbal, "Roll", defaults.gimbal[1]),
            _number(gimbal, "Pitch", defaults.gimbal[2]),
            _number(gimbal, "Yaw", defaults.gimbal[3]),
        ),
    )


def _capture(raw: Mapping[str, Any], defaults: Capture, *, where: str) -> Capture:
    capture = Capture(
        int(_number(raw, "Width", defaults.width_px)),
        int(_number(raw, "Height", defaults.height_px)),
        _number(raw, "FOV_Degrees", defaults.fov_deg),
    )
    if capture.width_px < 1 or capture.height_px < 1 or capture.width_px * capture.height_px > MAX_PIXELS:
        raise SettingsError(f"{where}: {capture.width_px}x{capture.height_px} must be 1 to {MAX_PIXELS} pixels")
    if not 1.0 <= capture.fov_deg < 180.0:
        raise SettingsError(f"{where}: FOV_Degrees {capture.fov_deg} must be from 1 to below 180")
    return capture


def _sensors(raw: Mapping[str, Any], *, where: str) -> dict[str, SensorSetting]:
    found = {}
    for name in raw:
        options = _child(raw, name)
        kind = int(_number(options, "SensorType", 0))
        if kind not in SENSOR_TYPES.values():
            raise SettingsError(f"{where}.{name}: SensorType {kind} must be one of {sorted(SENSOR_TYPES.values())}")
        if options.get("Enabled", False):
            found[name] = SensorSetting(kind, options)
    return found


def _position(raw: Mapping[str, Any], default: Vec3 = (0.0, 0.0, 0.0)) -> Vec3:
    return _number(raw, "X", default[0]), _number(raw, "Y", default[1]), _number(raw, "Z", default[2])


def _child(raw: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = raw.get(key, {})
    if not isinstance(value, dict):
        raise SettingsError(f"{key} must be an object {{...}}")
    return value


def _number(raw: Mapping[str, Any], key: str, default: float) -> float:
    value = raw.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SettingsError(f"{key} must be a number, not {value!r}")
    return float(value)


def _text(raw: Mapping[str, Any], key: str, default: str) -> str:
    value = raw.get(key, default)
    if not isinstance(value, str):
        raise SettingsError(f"{key} must be text, not {value!r}")
    return value
