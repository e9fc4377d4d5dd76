"""Parts of a plan that are their configuration in other words."""

from __future__ import annotations

import numpy as np

from uavsim.config.dataset import Degradations, Images, Labels
from uavsim.config.load import Loaded
from uavsim.config.rig import Lidar, Rig
from uavsim.config.town import TownConfig
from uavsim.records.plan import (
    CameraSpec,
    DegradationPlan,
    ImageFormat,
    LabelPlan,
    LidarSpec,
    SwarmTrajectory,
    TownSite,
)

__all__ = ["cameras", "degradation_plan", "describe", "image_format", "label_plan", "lidar", "lidar_spec", "town_site"]

_MAP_BORDER_M = 20.0


def cameras(rig: Rig) -> tuple[CameraSpec, ...]:
    """Write every camera out with the numbers that it takes from its rig."""
    return tuple(
        CameraSpec(
            name=name,
            mount_t_m=camera.mount_m,
            mount_rpy_deg=(camera.roll_deg, camera.pitch_deg, camera.yaw_deg),
            width_px=camera.width_px or rig.width_px,
            height_px=camera.height_px or rig.height_px,
            fov_deg=camera.fov_deg or rig.fov_deg,
            sensors=camera.sensors or rig.sensors,
        )
        for name, camera in rig.cameras.items()
    )


def lidar(rig: Loaded[Rig], *, step_us: int) -> LidarSpec | None:
    """Return the lidar that every drone carries, None where the rig has none.

    Raises:
        ConfigError: it would not make one whole turn each step, or has fewer points than beams.
    """
    wanted = rig.model.lidar
    if wanted is None:
        return None
    turns_hz = 1e6 / step_us
    if wanted.rotation_hz is not None and abs(wanted.rotation_hz - turns_hz) > 1e-6 * turns_hz:
        raise rig.error(
            ("lidar", "rotation_hz"),
            f"{wanted.rotation_hz:g} turns a second are not one a step of {step_us / 1e6:g} s; leave it out, or write "
            f"{turns_hz:g}",
        )
    if wanted.points_per_second < wanted.channels * turns_hz:
        raise rig.error(
            ("lidar", "points_per_second"),
            f"{wanted.points_per_second} are less than one a channel and turn: {wanted.channels} channels at "
            f"{turns_hz:g} turns a second need {wanted.channels * turns_hz:g}",
        )
    return lidar_spec(wanted, step_us=step_us)


def lidar_spec(wanted: Lidar, *, step_us: int) -> LidarSpec:
    """Write a lidar out; each step is one whole turn of it."""
    turns_hz = 1e6 / step_us
    return LidarSpec(
        mount_t_m=wanted.mount_m,
        mount_rpy_deg=(wanted.roll_deg, wanted.pitch_deg, wanted.yaw_deg),
        channels=wanted.channels,
        range_m=wanted.range_m,
        points_per_second=wanted.points_per_second,
        rotation_hz=turns_hz,
        upper_fov_deg=wanted.upper_fov_deg,
        lower_fov_deg=wanted.lower_fov_deg,
    )


def town_site(town: TownConfig) -> TownSite:
    """Return what a plan keeps of a town."""
    corner = np.floor(np.array([town.x_m[0], town.y_m[0]]) - _MAP_BORDER_M)
    return TownSite(
        name=town.name,
        carla_map=town.carla_map,
        map_bounds_m=(town.x_m[0], town.y_m[0], town.x_m[1], town.y_m[1]),
        ground_z_m=town.ground_z_m,
        airsim_origin_ue_m=town.airsim_origin_ue_m,
        mask_origin_map_m=(float(corner[0]), float(corner[1])),
    )


def image_format(images: Images) -> ImageFormat:
    """Return how images are stored."""
    return ImageFormat(images.format, jpeg_quality=images.jpeg_quality, png_level=images.png_level)


def label_plan(labels: Labels) -> LabelPlan:
    """Return what the data set says about labels; what it leaves out is None."""
    return LabelPlan(**labels.model_dump())


def degradation_plan(degradations: Degradations | None, *, seed: int) -> DegradationPlan | None:
    """Return what the sensors get wrong, or None when nothing; times become microseconds."""
    if degradations is None:
        return None
    return DegradationPlan(
        seed=seed,
        position_noise_m=degradations.position_noise_m,
        position_bias_m=degradations.position_bias_m,
        yaw_noise_deg=degradations.yaw_noise_deg,
        clock_offset_us=round(degradations.clock_offset_s * 1e6),
        latency_us=round(degradations.latency_s * 1e6),
        drop_probability=degradations.drop_probability,
        pixel_noise_sigma=degradations.pixel_noise_sigma,
        blur_sigma_px=degradations.blur_sigma_px,
        exposure_stops=degradations.exposure_stops,
    )


def describe(town: TownConfig, *, route: str, formation: str, weather: str, swarm: SwarmTrajectory) -> str:
    """Say in one line what a scene shows."""
    heights_m = np.round(swarm.map_SE3_flu.translation_m[..., 2] - town.ground_z_m, 1)
    low, high = f"{heights_m.min():g}", f"{heights_m.max():g}"
    drones = len(swarm.drone_ids)
    height = low if low == high else f"{low} to {high}"
    return f"{town.name}, {route}, {drones} {'drone' if drones == 1 else 'drones'} in {formation}, {height} m up, {weather}"
