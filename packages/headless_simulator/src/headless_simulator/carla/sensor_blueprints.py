"""The sensors of the blueprint library: attributes and their defaults.

Source: CARLA 0.9.16's ``ActorBlueprintFunctionLibrary``: names, types, order and defaults.
"""

from typing import Final

from headless_simulator.carla.attributes import BOOL, FLOAT, INT, STRING, Attribute, role_names, variation

_FACING: Final = ("front", "back", "left", "right", "front_left", "front_right", "back_left", "back_right")

_CAMERA: Final = (
    ("image_size_x", INT, "800"), ("image_size_y", INT, "600"), ("fov", FLOAT, "90.0"),
    ("lens_circle_falloff", FLOAT, "5.0"), ("lens_circle_multiplier", FLOAT, "0.0"), ("lens_k", FLOAT, "-1.0"),
    ("lens_kcube", FLOAT, "0.0"), ("lens_x_size", FLOAT, "0.08"), ("lens_y_size", FLOAT, "0.08"),
)  # fmt: skip
_POST_PROCESS: Final = (
    ("exposure_mode", STRING, "histogram", "manual"), ("exposure_compensation", FLOAT, "0.0"),
    ("shutter_speed", FLOAT, "200.0"), ("iso", FLOAT, "100.0"), ("fstop", FLOAT, "1.4"),
    ("enable_postprocess_effects", BOOL, "true"), ("gamma", FLOAT, "2.2"), ("motion_blur_intensity", FLOAT, "0.45"),
    ("motion_blur_max_distortion", FLOAT, "0.35"), ("lens_flare_intensity", FLOAT, "0.1"),
    ("bloom_intensity", FLOAT, "0.675"), ("motion_blur_min_object_screen_size", FLOAT, "0.1"),
    ("exposure_min_bright", FLOAT, "10.0"), ("exposure_max_bright", FLOAT, "12.0"), ("exposure_speed_up", FLOAT, "3.0"),
    ("exposure_speed_down", FLOAT, "1.0"), ("calibration_constant", FLOAT, "16.0"), ("focal_distance", FLOAT, "1000.0"),
    ("min_fstop", FLOAT, "1.2"), ("blade_count", INT, "5"), ("blur_amount", FLOAT, "1.0"), ("blur_radius", FLOAT, "0.0"),
    ("slope", FLOAT, "0.88"), ("toe", FLOAT, "0.55"), ("shoulder", FLOAT, "0.26"), ("black_clip", FLOAT, "0.0"),
    ("white_clip", FLOAT, "0.04"), ("temp", FLOAT, "6500.0"), ("tint", FLOAT, "0.0"),
    ("chromatic_aberration_intensity", FLOAT, "0.0"), ("chromatic_aberration_offset", FLOAT, "0.0"),
)  # fmt: skip
_DVS: Final = (
    ("positive_threshold", FLOAT, "0.3"), ("negative_threshold", FLOAT, "0.3"), ("sigma_positive_threshold", FLOAT, "0.0"),
    ("sigma_negative_threshold", FLOAT, "0.0"), ("refractory_period_ns", INT, "0"), ("use_log", BOOL, "True"),
    ("log_eps", FLOAT, "0.001"),
)  # fmt: skip
_SCAN: Final = (
    ("channels", INT, "32"), ("range", FLOAT, "10.0"), ("points_per_second", INT, "56000"),
    ("rotation_frequency", FLOAT, "10.0"), ("upper_fov", FLOAT, "10.0"), ("lower_fov", FLOAT, "-30.0"),
)  # fmt: skip
_SCAN_NOISE: Final = (
    ("atmosphere_attenuation_rate", FLOAT, "0.004"), ("noise_seed", INT, "0"), ("dropoff_general_rate", FLOAT, "0.45"),
    ("dropoff_intensity_limit", FLOAT, "0.8"), ("dropoff_zero_intensity", FLOAT, "0.4"), ("noise_stddev", FLOAT, "0.0"),
)  # fmt: skip
_SCAN_WIDTH: Final = (("horizontal_fov", FLOAT, "360.0"),)
_SEED: Final = (("noise_seed", INT, "0"),)
_IMU: Final = _SEED + tuple(
    (f"noise_{part}_{axis}", FLOAT, "0.0") for part in ("accel_stddev", "gyro_stddev", "gyro_bias") for axis in "xyz"
)
_PLACE_NOISE: Final = tuple(
    (f"noise_{axis}_{kind}", FLOAT, "0.0") for axis in ("lat", "lon", "alt") for kind in ("stddev", "bias")
)
_RADAR: Final = (
    ("horizontal_fov", FLOAT, "30"), ("vertical_fov", FLOAT, "30"), ("range", FLOAT, "100"),
    ("points_per_second", INT, "1500"), ("noise_seed", INT, "0"),
)  # fmt: skip
_OBSTACLE: Final = (
    ("distance", FLOAT, "5.0"), ("hit_radius", FLOAT, "0.5"), ("only_dynamics", BOOL, "false"),
    ("debug_linetrace", BOOL, "false"),
)  # fmt: skip
_RADIO: Final = (
    ("channel_id", STRING, "Default"), ("noise_seed", INT, "0"), ("transmit_power", FLOAT, "21.5"),
    ("receiver_sensitivity", FLOAT, "-99.0"), ("frequency_ghz", FLOAT, "5.9"), ("combined_antenna_gain", FLOAT, "10.0"),
    ("scenario", STRING, "highway", "rural", "urban"), ("path_loss_model", STRING, "winner", "geometric"),
    ("path_loss_exponent", FLOAT, "2.7"), ("d_ref", FLOAT, "1.0"), ("filter_distance", FLOAT, "500.0"),
    ("use_etsi_fading", BOOL, "true"), ("custom_fading_stddev", FLOAT, "0.0"),
)  # fmt: skip
_AWARENESS: Final = (
    ("gen_cam_min", FLOAT, "0.1"), ("gen_cam_max", FLOAT, "1.0"), ("fixed_rate", BOOL, "false"), *_PLACE_NOISE,
    *((f"noise_{name}", FLOAT, "0.0") for name in (
        "head_stddev", "head_bias", "accel_stddev_x", "accel_stddev_y", "accel_stddev_z", "yawrate_stddev",
        "yawrate_bias", "vel_stddev_x")),
)  # fmt: skip

_Row = tuple[str, int, str] | tuple[str, int, str, str] | tuple[str, int, str, str, str]  # name, type, values
_ONE_ROLE: Final = ("default",)
_SENSORS: Final[tuple[tuple[str, tuple[str, ...], bool, tuple[_Row, ...]], ...]] = (  # name, roles, has a tick, rows
    ("camera.rgb", _FACING, True, (*_CAMERA, *_POST_PROCESS)),
    ("camera.depth", _FACING, True, _CAMERA),
    ("camera.semantic_segmentation", _FACING, True, _CAMERA),
    ("camera.instance_segmentation", _FACING, True, _CAMERA),
    ("camera.normals", _FACING, True, _CAMERA),
    ("camera.cosmos_visualization", _FACING, True, _CAMERA),
    ("camera.optical_flow", _FACING, True, _CAMERA),
    ("camera.dvs", _FACING, True, (*_CAMERA, *_POST_PROCESS, *_DVS)),
    ("lidar.ray_cast", _FACING, True, (*_SCAN, *_SCAN_NOISE, *_SCAN_WIDTH)),
    ("lidar.ray_cast_semantic", _FACING, True, (*_SCAN, *_SCAN_WIDTH)),
    ("other.radar", _ONE_ROLE, True, _RADAR),
    ("other.imu", _ONE_ROLE, True, _IMU),
    ("other.gnss", _ONE_ROLE, True, _SEED + _PLACE_NOISE),
    ("other.collision", _FACING, False, ()),
    ("other.lane_invasion", _FACING, False, ()),
    ("other.obstacle", _FACING, True, _OBSTACLE),
    ("other.rss", _FACING, False, ()),
    ("other.v2x", _ONE_ROLE, True, (*_RADIO, *_AWARENESS)),
    ("other.v2x_custom", _ONE_ROLE, True, _RADIO),
)


def sensor_blueprints() -> dict[str, list[Attribute]]:
    """Return every sensor's attributes by blueprint id."""
    found: dict[str, list[Attribute]] = {}
    for name, roles, has_tick, rows in _SENSORS:
        attributes = role_names(f"sensor.{name}", *roles)
        if has_tick:
            attributes.append(variation("sensor_tick", FLOAT, "0.0"))
        # several values: a client must choose one of them
        attributes += [variation(key, kind, *values, restricted=len(values) > 1) for key, kind, *values in rows]
        found[f"sensor.{name}"] = attributes
    return found
