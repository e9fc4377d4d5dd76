"""Convert parts of the configuration into parts of a plan."""

import math
from dataclasses import replace

import numpy as np

from uavsim.config.backends import backend_of
from uavsim.config.dataset import AgentErrors, DatasetConfig, Degradations, Images, Labels
from uavsim.config.load import Loaded
from uavsim.config.rig import Block, Camera, Rig, Settling
from uavsim.config.town import TownConfig
from uavsim.records.modalities import LIDAR, camera_sensors, modality, ordered
from uavsim.records.plan import (
    DegradationPlan,
    ImageFormat,
    LabelPlan,
    MapStreaming,
    SwarmTrajectory,
    TownSite,
)
from uavsim.records.sensors import CameraParams, SensorSpec, Settle
from uavsim.terminal import count

_MAP_BORDER_M = 20.0


def sensors(rig: Loaded[Rig], *, step_us: int) -> tuple[SensorSpec, ...]:
    """Return all sensors of a rig; cameras inherit omitted values from the rig.

    Raises:
        ConfigError: a sensor does not support this step.
    """
    model = rig.model
    blocks: list[tuple[tuple[str, ...], str, str, Block]] = []  # place in the file, sensor's name, modality, block
    if model.lidar is not None:
        blocks.append((("lidar",), "", LIDAR, model.lidar))
    blocks += [(("mounted", name, mounted.sensor[0]), name, *mounted.sensor) for name, mounted in model.mounted.items()]
    for key_path, _, _, block in blocks:
        if fault := block.fault(step_us=step_us):
            raise rig.error((*key_path, fault[0]), fault[1])
    others = (block_sensor(block, name=name, modality=m, step_us=step_us) for _, name, m, block in blocks)
    return (*cameras(rig, step_us=step_us), *others)


def cameras(rig: Loaded[Rig], *, step_us: int = 1) -> tuple[SensorSpec, ...]:
    """Return the cameras of a rig.

    Args:
        rig: the rig.
        step_us: simulation step.

    Raises:
        ConfigError: a lens's field of view exceeds that of any pinhole image.
    """
    return tuple(
        SensorSpec(
            name=name,
            mount_t_m=camera.mount_m,
            mount_rpy_deg=(camera.roll_deg, camera.pitch_deg, camera.yaw_deg),
            params=_camera(rig, name, camera, step_us=step_us),
            modalities=tuple(m.name for m in ordered(camera.sensors or rig.model.sensors)),
        )
        for name, camera in rig.model.cameras.items()
    )


def _camera(rig: Loaded[Rig], name: str, camera: Camera, *, step_us: int) -> CameraParams:
    width_px, height_px = camera.width_px or rig.model.width_px, camera.height_px or rig.model.height_px
    fov_deg, lens = camera.fov_deg or rig.model.fov_deg, camera.lens or rig.model.lens
    shutter, vignetting = camera.shutter or rig.model.shutter, camera.vignetting or rig.model.vignetting or ()
    pinhole = CameraParams(
        width_px,
        height_px,
        fov_deg,
        shutter=shutter.shutter(step_us=step_us) if shutter else None,
        vignetting=vignetting if any(vignetting) else (),
        settle=_settle(rig.model.settle, step_us=step_us),
        exposure=(camera.exposure or rig.model.exposure).exposure,
    )
    if lens is None:
        return pinhole
    if fault := lens.fault(width_px=width_px, height_px=height_px, fov_deg=fov_deg):
        key, what = fault
        of_camera = camera.fov_deg if key == "fov_deg" else camera.lens
        key_path = (*(("cameras", name) if of_camera else ()), *(() if key == "fov_deg" else ("lens",)), key)
        if key == "coefficients":  # the largest bends most
            key_path = (*key_path, int(np.argmax(np.abs(lens.coefficients))))
        raise rig.error(key_path, f"{what} (camera {name})")
    camera_lens = lens.lens(width_px=width_px, height_px=height_px, fov_deg=fov_deg)
    if lens.focal_px is not None:
        middle = np.array([[0.0, camera_lens.centre_px[1]], [width_px, camera_lens.centre_px[1]]])
        left, right = np.degrees(np.arctan(camera_lens.rays(middle)[:, 0])).tolist()
        fov_deg = round(right - left, 6)
    return replace(pinhole, fov_deg=fov_deg, lens=camera_lens)


def _settle(config: Settling, *, step_us: int) -> Settle:
    enough = max(config.first_ticks, math.ceil(config.first_s * 1e6 / step_us))
    return Settle(config.ticks, enough if config.first_ticks else 0)


def given_by(dataset: Loaded[DatasetConfig], rig: Loaded[Rig]) -> tuple[SensorSpec, ...]:
    """Return a rig's sensors after checks against the dataset.

    Raises:
        ConfigError: the dataset's topology or step does not support a sensor.
    """
    _check_shutters(dataset.model, rig)
    topology = dataset.model.topology
    server = backend_of(topology).sensors_from
    specs = sensors(rig, step_us=round(dataset.model.step_s * 1e6))
    for spec in specs:
        for name in spec.modalities:
            if not modality(name).given_by(server):
                supported = ", ".join(n for n, sensor in camera_sensors().items() if sensor.given_by(server))
                if not spec.params.is_optical:
                    raise rig.error(("mounted", spec.name), f"topology {topology} does not provide {name!r}")
                key_path = ("cameras", spec.name, "sensors") if rig.model.cameras[spec.name].sensors else ("sensors",)
                raise rig.error(
                    key_path,
                    f"topology {topology} does not provide {name!r}; its cameras provide {supported} (camera {spec.name})",
                )
        if server == "airsim" and isinstance(spec.params, CameraParams) and spec.params.exposure.mode == "manual":
            key_path = (*(("cameras", spec.name) if rig.model.cameras[spec.name].exposure else ()), "exposure", "mode")
            raise rig.error(key_path, f"topology {topology} has no manual exposure: AirSim's settings have no such key")
    return specs


def _check_shutters(dataset: DatasetConfig, rig: Loaded[Rig]) -> None:
    """Refuse shutters that do not fit into whole steps before the next image."""
    step_us = round(dataset.step_s * 1e6)
    image_us = round(dataset.keyframe_s / dataset.step_s) // (dataset.sweeps_per_keyframe + 1) * step_us
    for name, camera in rig.model.cameras.items():
        shutter = camera.shutter or rig.model.shutter
        if shutter and (fault := shutter.fault(step_us=step_us, image_us=image_us)):
            key_path = (*(("cameras", name) if camera.shutter else ()), "shutter", fault[0])
            raise rig.error(key_path, f"{fault[1]} (camera {name})")


def block_sensor(block: Block, *, name: str, modality: str, step_us: int) -> SensorSpec:
    """Return a sensor other than a camera."""
    turn_deg = (block.roll_deg, block.pitch_deg, block.yaw_deg)
    return SensorSpec(name, block.mount_m, turn_deg, block.params(step_us=step_us), (modality,))


def town_site(town: TownConfig) -> TownSite:
    """Return a town's part of a plan."""
    corner = np.floor(np.array([town.x_m[0], town.y_m[0]]) - _MAP_BORDER_M)
    return TownSite(
        name=town.name,
        carla_map=town.carla_map,
        map_bounds_m=(town.x_m[0], town.y_m[0], town.x_m[1], town.y_m[1]),
        ground_z_m=town.ground_z_m,
        airsim_origin_ue_m=town.airsim_origin_ue_m,
        mask_origin_map_m=(float(corner[0]), float(corner[1])),
        streaming=MapStreaming(**town.streaming.model_dump()) if town.streaming else None,
    )


def image_format(images: Images) -> ImageFormat:
    """Return the storage of images."""
    return ImageFormat(images.format, jpeg_quality=images.jpeg_quality, png_level=images.png_level)


def label_plan(labels: Labels, town: TownConfig) -> LabelPlan:
    """Return the dataset's label settings; omitted ones are None.

    In a large map the range ends at ``actor_active_distance_m``, because CARLA draws no actors beyond it.
    """
    plan = LabelPlan(**labels.model_dump(exclude={"occupancy"}))  # which is labelled of the whole dataset
    if town.streaming is None:
        return plan
    active_m = town.streaming.actor_active_distance_m
    return replace(plan, range_m=min(plan.range_m or active_m, active_m))


def degradation_plan(degradations: Degradations | None, *, seed: int) -> DegradationPlan | None:
    """Return the sensors' errors with times in microseconds; None for perfect sensors."""
    if degradations is None:
        return None
    return replace(
        _errors(degradations, seed=seed),
        by_kind=tuple((kind, _errors(errors, seed=seed)) for kind, errors in degradations.by_kind.items()),
        links=tuple(
            (name, round(link.latency_s * 1e6), link.drop_probability)
            for name, link in sorted(degradations.links.items())
        ),
    )


def _errors(errors: AgentErrors, *, seed: int) -> DegradationPlan:
    return DegradationPlan(
        seed=seed,
        position_noise_m=errors.position_noise_m,
        position_bias_m=errors.position_bias_m,
        yaw_noise_deg=errors.yaw_noise_deg,
        clock_offset_us=round(errors.clock_offset_s * 1e6),
        latency_us=round(errors.latency_s * 1e6),
        drop_probability=errors.drop_probability,
        pixel_noise_sigma=errors.pixel_noise_sigma,
        blur_sigma_px=errors.blur_sigma_px,
        exposure_stops=errors.exposure_stops,
        uneven=errors.uneven,
    )


def describe(town: TownConfig, *, route: str, formation: str, weather: str, swarm: SwarmTrajectory) -> str:
    """Describe a scene in one line."""
    heights_m = np.round(swarm.map_SE3_flu.translation_m[..., 2] - town.ground_z_m, 1)
    low, high = f"{heights_m.min():g}", f"{heights_m.max():g}"
    drones, height = count(len(swarm.drone_ids), "drone"), low if low == high else f"{low} to {high}"
    return f"{town.name}, {route}, {drones} in {formation}, {height} m up, {weather}"
