"""Time limits of AirSim's calls.

``simGetImages`` renders, reads back and packs one image after the other, so its limit grows with their number and size.
Measured on a merged build on Unreal (carla-air-testbed): 640x480 RGB 0.02 s, 960x720 RGB and depth 15.4 s, with a mask 33.5 s.
"""

from collections.abc import Sequence
from typing import Final

from uavsim.config.deadlines import Deadlines
from uavsim.records.modalities import ordered
from uavsim.records.plan import ScenePlan
from uavsim.simulate.airsim.readers import reader_of

CALL_S: Final = Deadlines().airsim_s  # default of any other call; some never return
_IMAGE_S: Final = 1.0
_PIXEL_S: Final = 30e-6  # measured: depth 22e-6, a mask 26e-6


def images_limit_s(sizes_px: Sequence[int], *, base_s: float = CALL_S) -> float:
    """Return the time limit of images that are requested together, seconds.

    Args:
        sizes_px: pixels of each image, of all vehicles, because one renderer draws them all.
        base_s: limit of a call without images.
    """
    return base_s + len(sizes_px) * _IMAGE_S + sum(sizes_px) * _PIXEL_S


def image_sizes_px(plan: ScenePlan) -> tuple[int, ...]:
    """Return the number of pixels of each image of a captured step: for every drone, camera and modality."""
    of_a_drone = [
        spec.camera.rendered.width_px * spec.camera.rendered.height_px
        for spec in plan.rig
        for modality in ordered(spec.modalities)
        if reader_of(modality).image_type is not None
    ]
    return (*of_a_drone,) * len(plan.swarm.drone_ids)
