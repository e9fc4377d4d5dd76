"""An agent's own, worse knowledge: a worse pose, a later clock, a lost or noisy image. The truth stays beside it.

Everything is drawn from the degradations' own seed, the scene, the agent and the step, so that one image's fate does not
hang on another's.
"""

import zlib
from typing import Any

import numpy as np

from uavsim.geometry import quaternion
from uavsim.images.degrade import degrade_image
from uavsim.records.agents import AGENT_KINDS
from uavsim.records.channels import agent_of
from uavsim.records.plan import DegradationPlan, ScenePlan
from uavsim.records.recording import AgentState, DroneState
from uavsim.typing import UInt8Array


def _generator(plan: ScenePlan, wanted: DegradationPlan, *what: int) -> np.random.Generator:
    return np.random.default_rng([wanted.seed, zlib.crc32(plan.scene_name.encode()), *what])


def agent_view(plan: ScenePlan, state: DroneState | AgentState, *, channel: str, step: int) -> dict[str, Any]:
    """Return what agent and channel would report at a step; empty when the plan degrades nothing.

    Keys: ``reported_translation`` (map, metres), ``reported_rotation`` (wxyz), ``reported_timestamp_us`` (the agent's clock),
    ``arrival_timestamp_us`` (when others have it, on the true clock), ``dropped``; ``links`` with the last two by who
    receives, air or ground, where the plan says something of links.
    """
    if plan.degradations is None:
        return {}
    kind = AGENT_KINDS[state.agent.kind]
    number = kind.seed_offset + state.agent.number
    wanted = plan.degradations.of(kind.name)
    of_agent = _generator(plan, wanted, 1, number)
    offset_us = round(of_agent.uniform(-1.0, 1.0) * wanted.clock_offset_us)
    of_pose = _generator(plan, wanted, 2, number, step)
    shift_m = of_pose.normal(0.0, 1.0, 3) * wanted.position_noise_m + np.array(wanted.position_bias_m)
    turn_rad = np.radians(of_pose.normal(0.0, 1.0) * wanted.yaw_noise_deg)
    of_channel = _generator(plan, wanted, 3, zlib.crc32(channel.encode()), step)
    now_us = plan.start_timestamp_us + step * plan.step_us
    view = {
        "reported_translation": [float(v) for v in state.map_SE3_flu.translation_m + shift_m],
        "reported_rotation": [
            float(v) for v in quaternion.multiply(quaternion.from_yaw(float(turn_rad)), state.map_SE3_flu.quat_wxyz)
        ],
        "reported_timestamp_us": now_us + offset_us,
        "arrival_timestamp_us": now_us + wanted.latency_us,
        "dropped": bool(of_channel.random() < wanted.drop_probability),
    }
    links = _links(plan, plan.degradations, "air" if kind.flies else "ground", channel=channel, step=step)
    return view | ({"links": links} if links else {})


def _links(plan: ScenePlan, wanted: DegradationPlan, sender: str, *, channel: str, step: int) -> dict[str, Any]:
    """Return when an image arrives at those in the air and on the ground, and whether it does."""
    now_us = plan.start_timestamp_us + step * plan.step_us
    found: dict[str, Any] = {}
    for name, latency_us, drop_probability in wanted.links:
        own, _, receiver = name.partition("_to_")
        if own == sender:
            of_link = _generator(plan, wanted, 6, zlib.crc32(channel.encode()), step, zlib.crc32(receiver.encode()))
            lost = bool(of_link.random() < drop_probability)
            found[receiver] = {"arrival_timestamp_us": now_us + latency_us, "dropped": lost}
    return found


def image_changes(plan: ScenePlan, kind: str) -> bool:
    """Return whether degraded copies of the images of one kind of agents are to be written."""
    wanted = None if plan.degradations is None else plan.degradations.of(kind)
    return wanted is not None and any((wanted.pixel_noise_sigma, wanted.blur_sigma_px, wanted.exposure_stops))


def degraded_image(plan: ScenePlan, pixels: UInt8Array, *, channel: str, step: int) -> UInt8Array:
    """Return the degraded copy of one image, (H, W, 3)."""
    assert plan.degradations is not None
    wanted = plan.degradations.of(agent_of(channel)[0])
    number = zlib.crc32(channel.encode())
    faults = {
        "exposure_stops": wanted.exposure_stops,
        "blur_sigma_px": wanted.blur_sigma_px,
        "noise_sigma": wanted.pixel_noise_sigma,
    }
    if wanted.uneven:
        of_camera = _generator(plan, wanted, 5, number)
        own = of_camera.choice([name for name, value in faults.items() if value]) if of_camera.random() < 0.5 else ""
        faults = {name: value for name, value in faults.items() if name == own}
    return degrade_image(pixels, rng=_generator(plan, wanted, 4, number, step), **faults)
