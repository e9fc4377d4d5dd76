"""The default layout of a recording: the town on the left, a tab of cameras for each drone on the right."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import rerun.blueprint as rrb

from uavsim.typing import FloatArray

_LEAST_REACH_M: Final = 20.0
_EYE: Final = (-0.75, -1.0, 0.45)  # offset from the swarm's centre, in multiples of its reach


def arrange(cameras: Mapping[int, Sequence[tuple[str, str]]], *, swarm_map_m: FloatArray) -> rrb.Blueprint:
    """Return the blueprint.

    Args:
        cameras: drone -> (entity, name) of each of its cameras.
        swarm_map_m: (N, 3) first positions of the drones, map frame, metres, which the initial view shows.
    """
    middle = swarm_map_m.mean(axis=0)
    x, y, z = (float(v) for v in middle)
    reach_m = max(z, 1.5 * float(np.ptp(swarm_map_m, axis=0).max()), _LEAST_REACH_M)
    eye = middle + np.array(_EYE) * reach_m
    world = rrb.Spatial3DView(
        origin="/world",
        contents=["/world/**", "- /world/drones/**/boxes", "- /world/drones/**/mask"],
        name="Town, drones, boxes",
        background=(18, 20, 24),
        line_grid=False,
        eye_controls=rrb.EyeControls3D(
            position=tuple(eye.tolist()),
            look_target=(x, y, z - 0.45 * reach_m),
            eye_up=(0, 0, 1),
        ),
    )
    tabs = [
        rrb.Grid(*[rrb.Spatial2DView(origin=entity, name=name) for entity, name in views], name=f"Drone {drone}")
        for drone, views in cameras.items()
    ]
    about = rrb.TextDocumentView(origin="/about", name="Scene")
    right = rrb.Vertical(rrb.Tabs(*tabs, active_tab=0), about, row_shares=[5, 1])
    return rrb.Blueprint(
        rrb.Horizontal(world, right, column_shares=[5, 4]),
        rrb.BlueprintPanel(state="collapsed"),
        rrb.SelectionPanel(state="collapsed"),
        rrb.TimePanel(state="collapsed", timeline="keyframe", fps=2.0, play_state="paused"),
    )
