"""Simulated faults of an agent's reports: pose errors, clock offset, lost or noisy images; the truth is stored beside them.

Random numbers depend on the degradations' own seed, the scene, the agent and the step only, so that images are independent of
each other.
"""

import zlib
from typing import Any

import numpy as np

from uavsim.geometry import quaternion
from uavsim.images.degrade import degrade_image
from uavsim.records.channels import agent_of
from uavsim.records.ingredients import AGENT_KINDS
from uavsim.records.plan import DegradationPlan, ScenePlan
from uavsim.records.recording import AgentState, DroneState
from uavsim.typing import UInt8Array


def _generator(plan: ScenePlan, degradation: DegradationPlan, *what: int) -> np.random.Generator:
    return np.random.default_rng([degradation.seed, zlib.crc32(plan.scene_name.encode()), *what])


def agent_view(plan: ScenePlan, state: DroneState | AgentState, *, channel: str, step: int) -> dict[str, Any]:
    """Return the degraded report of an agent's channel at a step; empty if the plan degrades nothing.

    Keys: ``reported_translation`` (map, metres), ``reported_rotation`` (wxyz), ``reported_timestamp_us`` (the agent's clock),
    ``arrival_timestamp_us`` (on the true clock, when others receive it), ``dropped``; ``links`` holds the last two for each
    receiver, air or ground, if the plan has links.
    """
    if plan.degradations is None:
        return {}
    kind = AGENT_KINDS[state.agent.kind]
    number = kind.seed_offset + state.agent.number
    degradation = plan.degradations.of(kind.name)
    of_agent = _generator(plan, degradation, 1, number)
    offset_us = round(of_agent.uniform(-1.0, 1.0) * degradation.clock_offset_us)
    of_pose = _generator(plan, degradation, 2, number, step)
    shift_m = of_pose.normal(0.0, 1.0, 3) * degradation.position_noise_m + np.array(degradation.position_bias_m)
    turn_rad = np.radians(of_pose.normal(0.0, 1.0) * degradation.yaw_noise_deg)
    of_channel = _generator(plan, degradation, 3, zlib.crc32(channel.encode()), step)
    now_us = plan.start_timestamp_us + step * plan.step_us
    view = {
        "reported_translation": [float(v) for v in state.map_SE3_flu.translation_m + shift_m],
        "reported_rotation": [
            float(v) for v in quaternion.multiply(quaternion.from_yaw(float(turn_rad)), state.map_SE3_flu.quat_wxyz)
        ],
        "reported_timestamp_us": now_us + offset_us,
        "arrival_timestamp_us": now_us + degradation.latency_us,
        "dropped": bool(of_channel.random() < degradation.drop_probability),
    }
    links = _links(plan, plan.degradations, "air" if kind.flies else "ground", channel=channel, step=step)
    return view | ({"links": links} if links else {})


def _links(plan: ScenePlan, degradation: DegradationPlan, sender: str, *, channel: str, step: int) -> dict[str, Any]:
    """Return the arrival time and loss of an image by receiver, air or ground."""
    now_us = plan.start_timestamp_us + step * plan.step_us
    found: dict[str, Any] = {}
    for name, latency_us, drop_probability in degradation.links:
        link_sender, _, receiver = name.partition("_to_")
        if link_sender == sender:
            of_link = _generator(
                plan, degradation, 6, zlib.crc32(channel.encode()), step, zlib.crc32(receiver.encode())
            )
            lost = bool(of_link.random() < drop_probability)
            found[receiver] = {"arrival_timestamp_us": now_us + latency_us, "dropped": lost}
    return found


def image_changes(plan: ScenePlan, kind: str) -> bool:
    """Return whether the plan degrades the images of a kind of agents."""
    degradation = None if plan.degradations is None else plan.degradations.of(kind)
    return degradation is not None and any(
        (degradation.pixel_noise_sigma, degradation.blur_sigma_px, degradation.exposure_stops)
    )


def degraded_image(plan: ScenePlan, pixels: UInt8Array, *, channel: str, step: int) -> UInt8Array:
    """Return a degraded copy of an (H, W, 3) uint8 image."""
    assert plan.degradations is not None
    degradation = plan.degradations.of(agent_of(channel)[0])
    number = zlib.crc32(channel.encode())
    faults = {
        "exposure_stops": degradation.exposure_stops,
        "blur_sigma_px": degradation.blur_sigma_px,
        "noise_sigma": degradation.pixel_noise_sigma,
    }
    if degradation.uneven:
        of_camera = _generator(plan, degradation, 5, number)
        fault = of_camera.choice([name for name, value in faults.items() if value]) if of_camera.random() < 0.5 else ""
        faults = {name: value for name, value in faults.items() if name == fault}
    return degrade_image(pixels, rng=_generator(plan, degradation, 4, number, step), **faults)
