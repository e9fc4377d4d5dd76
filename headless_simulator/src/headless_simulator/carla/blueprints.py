"""The blueprint library as ``get_actor_definitions`` gives it, and the check of what clients send back."""

from __future__ import annotations

from typing import Any, Final

from headless_simulator.models.catalogue import PROPS, VEHICLES, WALKERS

BOOL: Final = 1
INT: Final = 2
FLOAT: Final = 3
STRING: Final = 4
COLOUR: Final = 5

_CAMERA: Final = (
    ("image_size_x", INT, "800"), ("image_size_y", INT, "600"), ("fov", FLOAT, "90.0"),
    ("lens_circle_falloff", FLOAT, "5.0"), ("lens_circle_multiplier", FLOAT, "0.0"), ("lens_k", FLOAT, "-1.0"),
    ("lens_kcube", FLOAT, "0.0"), ("lens_x_size", FLOAT, "0.08"), ("lens_y_size", FLOAT, "0.08"),
)  # fmt: skip
_POST_PROCESS: Final = (
    ("enable_postprocess_effects", BOOL, "true"), ("bloom_intensity", FLOAT, "0.675"), ("gamma", FLOAT, "2.2"),
    ("lens_flare_intensity", FLOAT, "0.1"), ("motion_blur_intensity", FLOAT, "0.45"),
    ("motion_blur_max_distortion", FLOAT, "0.35"), ("motion_blur_min_object_screen_size", FLOAT, "0.1"),
    ("exposure_mode", STRING, "histogram"), ("exposure_compensation", FLOAT, "0.0"), ("exposure_min_bright", FLOAT, "10.0"),
    ("exposure_max_bright", FLOAT, "12.0"), ("exposure_speed_up", FLOAT, "3.0"), ("exposure_speed_down", FLOAT, "1.0"),
    ("calibration_constant", FLOAT, "16.0"), ("iso", FLOAT, "100.0"), ("shutter_speed", FLOAT, "200.0"),
    ("fstop", FLOAT, "1.4"), ("min_fstop", FLOAT, "1.2"), ("blade_count", INT, "5"), ("focal_distance", FLOAT, "1000.0"),
    ("blur_amount", FLOAT, "1.0"), ("blur_radius", FLOAT, "0.0"), ("temp", FLOAT, "6500.0"), ("tint", FLOAT, "0.0"),
    ("slope", FLOAT, "0.88"), ("toe", FLOAT, "0.55"), ("shoulder", FLOAT, "0.26"), ("black_clip", FLOAT, "0.0"),
    ("white_clip", FLOAT, "0.04"), ("chromatic_aberration_intensity", FLOAT, "0.0"),
    ("chromatic_aberration_offset", FLOAT, "0.0"), ("depth_blur_km_for_50", FLOAT, "0.0"),
    ("depth_of_field_min_fstop", FLOAT, "1.2"),
)  # fmt: skip
_DVS: Final = (
    ("positive_threshold", FLOAT, "0.3"), ("negative_threshold", FLOAT, "0.3"), ("sigma_positive_threshold", FLOAT, "0.0"),
    ("sigma_negative_threshold", FLOAT, "0.0"), ("refractory_period_ns", INT, "0"), ("use_log", BOOL, "true"),
    ("log_eps", FLOAT, "0.001"),
)  # fmt: skip
_LIDAR: Final = (
    ("channels", INT, "32"), ("range", FLOAT, "10.0"), ("points_per_second", INT, "56000"),
    ("rotation_frequency", FLOAT, "10.0"), ("upper_fov", FLOAT, "10.0"), ("lower_fov", FLOAT, "-30.0"),
    ("horizontal_fov", FLOAT, "360.0"),
)  # fmt: skip
_LIDAR_NOISE: Final = (
    ("atmosphere_attenuation_rate", FLOAT, "0.004"), ("noise_stddev", FLOAT, "0.0"), ("noise_seed", INT, "0"),
    ("dropoff_general_rate", FLOAT, "0.45"), ("dropoff_intensity_limit", FLOAT, "0.8"),
    ("dropoff_zero_intensity", FLOAT, "0.4"),
)  # fmt: skip
_IMU: Final = (
    ("noise_seed", INT, "0"),
    *((f"noise_accel_stddev_{a}", FLOAT, "0.0") for a in "xyz"),
    *((f"noise_gyro_stddev_{a}", FLOAT, "0.0") for a in "xyz"),
    *((f"noise_gyro_bias_{a}", FLOAT, "0.0") for a in "xyz"),
)
_GNSS: Final = (
    ("noise_seed", INT, "0"),
    *((f"noise_{a}_{k}", FLOAT, "0.0") for a in ("alt", "lat", "lon") for k in ("stddev", "bias")),
)
_RADAR: Final = (
    ("horizontal_fov", FLOAT, "30.0"), ("vertical_fov", FLOAT, "30.0"), ("range", FLOAT, "100.0"),
    ("points_per_second", INT, "1500"), ("noise_seed", INT, "0"),
)  # fmt: skip
_OBSTACLE: Final = (
    ("distance", FLOAT, "5.0"), ("hit_radius", FLOAT, "0.5"), ("only_dynamics", BOOL, "false"),
    ("debug_linetrace", BOOL, "false"),
)  # fmt: skip

SENSORS: Final[dict[str, tuple[tuple[str, int, str], ...]]] = {
    "sensor.camera.rgb": (*_CAMERA, *_POST_PROCESS),
    "sensor.camera.depth": _CAMERA,
    "sensor.camera.semantic_segmentation": _CAMERA,
    "sensor.camera.instance_segmentation": _CAMERA,
    "sensor.camera.normals": _CAMERA,
    "sensor.camera.cosmos_visualization": _CAMERA,
    "sensor.camera.optical_flow": _CAMERA,
    "sensor.camera.dvs": (*_CAMERA, *_POST_PROCESS, *_DVS),
    "sensor.lidar.ray_cast": (*_LIDAR, *_LIDAR_NOISE),
    "sensor.lidar.ray_cast_semantic": _LIDAR,
    "sensor.other.radar": _RADAR,
    "sensor.other.imu": _IMU,
    "sensor.other.gnss": _GNSS,
    "sensor.other.collision": (),
    "sensor.other.lane_invasion": (),
    "sensor.other.obstacle": _OBSTACLE,
}

Definition = list[Any]  # [uid, id, tags, [attribute]]


def _attribute(name: str, kind: int, values: tuple[str, ...], *, fixed: bool = False) -> list[Any]:
    return [name, kind, values[0], [] if fixed else list(values), not fixed, False]


def _fixed(name: str, kind: int, value: object) -> list[Any]:
    return _attribute(name, kind, (str(value),), fixed=True)


def _vehicle(name: str) -> list[Any]:
    spec = VEHICLES[name]
    colours = tuple(",".join(map(str, colour)) for colour in spec.colours)
    return [
        _attribute("color", COLOUR, colours),
        _attribute("role_name", STRING, ("autopilot", "scenario", "ego_vehicle")),
        _attribute("sticky_control", BOOL, ("true",)),
        _attribute("terramechanics", BOOL, ("false",)),
        _fixed("object_type", STRING, ""),
        _fixed("base_type", STRING, spec.base_type),
        _fixed("special_type", STRING, spec.special_type),
        _fixed("number_of_wheels", INT, spec.wheels),
        _fixed("generation", INT, spec.generation),
        _fixed("has_lights", BOOL, str(spec.has_lights).lower()),
        _fixed("has_dynamic_doors", BOOL, "false"),
    ]


def _walker(name: str) -> list[Any]:
    spec = WALKERS[name]
    return [
        _attribute("role_name", STRING, ("pedestrian",)),
        _attribute("is_invincible", BOOL, ("true",)),
        _attribute("speed", FLOAT, ("0.0", "1.4", "2.6") if spec.age != "senior" else ("0.0", "0.9", "1.5")),
        _fixed("gender", STRING, spec.gender),
        _fixed("age", STRING, spec.age),
        _fixed("generation", INT, spec.generation),
        _fixed("can_use_wheelchair", BOOL, "false"),
        _attribute("use_wheelchair", BOOL, ("false",)),
    ]


def _sensor(name: str) -> list[Any]:
    rows = [_attribute("role_name", STRING, ("front",)), _attribute("sensor_tick", FLOAT, ("0.0",))]
    return rows + [_attribute(key, kind, (value,)) for key, kind, value in SENSORS[name]]


def _library() -> list[Definition]:
    ids: list[tuple[str, list[Any]]] = [(name, _vehicle(name)) for name in VEHICLES]
    ids += [(name, _walker(name)) for name in WALKERS]
    ids += [(name, [_attribute("role_name", STRING, ("prop",)), _fixed("size", STRING, "small")]) for name in PROPS]
    ids += [(name, _sensor(name)) for name in SENSORS]
    ids.append(("controller.ai.walker", []))
    return [[uid, name, ",".join(name.split(".")), rows] for uid, (name, rows) in enumerate(ids, start=1)]


DEFINITIONS: Final[list[Definition]] = _library()
_BY_NAME: Final[dict[str, dict[str, list[Any]]]] = {d[1]: {a[0]: a for a in d[3]} for d in DEFINITIONS}


def known(blueprint: str) -> bool:
    """Whether the library has it."""
    return blueprint in _BY_NAME


def complete(blueprint: str, given: dict[str, str]) -> dict[str, str]:
    """Return every attribute of a blueprint: what the client gave, else the default."""
    return {name: str(given.get(name, row[2])) for name, row in _BY_NAME[blueprint].items()} | given


def kind_of(blueprint: str, attribute: str) -> int:
    """Type of an attribute: ``BOOL`` to ``COLOUR``; ``STRING`` of one that the library does not have."""
    row = _BY_NAME.get(blueprint, {}).get(attribute)
    return STRING if row is None else int(row[1])
