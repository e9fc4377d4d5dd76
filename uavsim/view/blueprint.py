"""Arrangement of a recording at first sight: the town on the left, each drone's cameras in a tab on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import rerun.blueprint as rrb

from uavsim.typing import FloatArray

__all__ = ["arrange"]


def arrange(cameras: Mapping[int, Sequence[tuple[str, str]]], *, look_at_map_m: FloatArray) -> rrb.Blueprint:
    """Return the blueprint.

    Args:
        cameras: drone -> (entity, name) of each of its cameras.
        look_at_map_m: (3,) what the first view is turned to: the middle of the swarm.
    """
    x, y, z = (float(v) for v in look_at_map_m)
    height_m = max(z, 20.0)
    world = rrb.Spatial3DView(
        origin="/world",
        contents=["/world/**", "- /world/drones/**/boxes", "- /world/drones/**/mask"],
        name="Town, drones, boxes",
        background=(18, 20, 24),
        line_grid=False,
        eye_controls=rrb.EyeControls3D(
            position=(x - 1.1 * height_m, y - 1.4 * height_m, 1.6 * height_m),
            look_target=(x, y, 0.3 * z),
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
        rrb.TimePanel(state="collapsed", timeline="keyframe", fps=2.0),
    )
