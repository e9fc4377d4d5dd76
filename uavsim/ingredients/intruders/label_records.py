"""Labels of encounters in the air: what each intruder is in each image of the camera that it passes."""

from dataclasses import dataclass

from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray, IntArray

__all__ = ["ABOVE", "BELOW", "ON", "UNKNOWN", "IntruderLabels"]

BELOW, ON, ABOVE, UNKNOWN = -1, 0, 1, 9
"""Sides of the horizon, as AOT has them; unknown where no semantic image reports."""


@dataclass(frozen=True, slots=True, eq=False)
class IntruderLabels:
    """One intruder over one scene, V images that show it.

    Attributes:
        intruder: its place in ``plan.intruders``.
        instance_id: in the masks.
        cpa_m: how near it came to the camera, over all captures; ``cpa_us`` when, since the scene's first.
        frame: (V,) places in the recording's frames.
        map_SE3_intruder: (V,) its middle.
        range_m: (V,) from the camera.
        closing_mps: (V,) how fast that shrinks.
        bearing_deg: (V, 2) azimuth to the right and elevation upwards, in the camera.
        box_px: (V, 4) left, top, width, height; of the mask's pixels, or of the projected box where the mask has none.
        aot_px: (V, 4) the same as AOT's people drew it.
        from_mask: (V,) the mask has pixels of it.
        visible_px: (V,) how many.
        horizon: (V,) side of the horizon that is behind it.
    """

    intruder: int
    instance_id: int
    cpa_m: float
    cpa_us: int
    frame: IntArray
    map_SE3_intruder: SE3
    range_m: FloatArray
    closing_mps: FloatArray
    bearing_deg: FloatArray
    box_px: FloatArray
    aot_px: FloatArray
    from_mask: IntArray
    visible_px: IntArray
    horizon: IntArray
