"""Trees as obstacles: free flight under crowns and beside trunks, free origins."""

from types import SimpleNamespace

import numpy as np
import pytest
from headless_simulator.airsim.obstacles import Obstacles
from headless_simulator.scene import FOLIAGE, TAG, Mesh, StaticObject
from headless_simulator.towns import NAMES, load_town


def box_corners(low, high):
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def tree_town() -> SimpleNamespace:
    """A tree at (10, 0) turned by 90 degrees: trunk 0.4 m wide and 3 m high, crown 4 m long, 2 m wide, up to 8 m."""
    trunk = box_corners((9.8, -0.2, 0.0), (10.2, 0.2, 3.0))
    crown = box_corners((9.0, -2.0, 3.0), (11.0, 2.0, 8.0))
    corners = np.concatenate([trunk, crown, trunk[:3]]).astype(np.float32)
    triangles = np.array([[i, i + 1, i + 2] for i in range(0, 14)] + [[16, 17, 18]], np.int32)
    triangles = np.array([t for t in triangles if max(t) < 8 or min(t) >= 8])
    leaves = triangles.min(axis=1) >= 8
    mesh = Mesh(
        vertices_m=corners, triangles=triangles, colour_rgb=np.zeros((len(triangles), 3), np.uint8),
        tag=np.full(len(triangles), TAG["vegetation"], np.uint8),
        material=np.where(leaves & (triangles.max(axis=1) < 16), FOLIAGE, 0).astype(np.uint8),
        object_id=np.where(triangles.max(axis=1) < 16, 7, 8).astype(np.uint32),
    )  # fmt: skip
    tree = StaticObject(7, "Tree_0001", TAG["vegetation"], (10, 0, 0, 0, 90, 0), (10, 0, 4), (2, 1, 4))
    return SimpleNamespace(
        town=SimpleNamespace(objects=(tree,), mesh=mesh), movers=lambda: SimpleNamespace(actor_id=())
    )


def test_tree_has_a_trunk_box_and_a_crown_box() -> None:
    boxes, ranges = Obstacles(tree_town()).near(np.array([[9.0, 0.0, 1.0]]), np.zeros((1, 10)))

    assert ranges.tolist() == [[0, 2]]
    crown, trunk = boxes
    assert crown[:6] == pytest.approx([10, 0, 5.5, 2, 1, 2.5])  # long along its own x, which points to Unreal's y
    assert trunk[:6] == pytest.approx([10, 0, 1.5, 0.2, 0.2, 1.5])
    assert trunk[6:] == pytest.approx([0, 1], abs=1e-12)


def test_both_tree_boxes_have_the_tree_name() -> None:
    obstacles = Obstacles(tree_town())
    obstacles.near(np.array([[9.0, 0.0, 1.0]]), np.zeros((1, 10)))

    assert [obstacles.name(row) for row in (0, 1)] == ["Tree_0001"] * 2


@pytest.mark.parametrize("name", NAMES)
def test_town_origin_is_free_of_obstacles(name) -> None:
    host = SimpleNamespace(town=load_town(name), movers=lambda: SimpleNamespace(actor_id=()))

    boxes, ranges = Obstacles(host).near(np.zeros((1, 3)), np.zeros((1, 10)))

    ((first, last),) = ranges
    reach_m = np.hypot(boxes[first:last, 0], boxes[first:last, 1]) - np.hypot(
        boxes[first:last, 3], boxes[first:last, 4]
    )
    assert (reach_m > 3.0).all()
