"""Trees as obstacles: separate boxes of trunk and crown instead of one box around both."""

import numpy as np

from headless_simulator.scene import FOLIAGE, Float64, Int32, Mesh, StaticObject


def trunks_and_crowns(trees: list[StaticObject], mesh: Mesh) -> tuple[list[StaticObject], Float64]:
    """Return the bounds of each tree's leaves and trunk.

    Args:
        trees: objects of the town with the vegetation tag.
        mesh: the town's mesh, with object and leaf flag per triangle.

    Returns:
        The tree of each part, and (P, 6) parts: centre x, y, z and half x, y, z in the tree's frame, metres.
    """
    of_tree = np.flatnonzero(np.isin(mesh.object_id, [tree.object_id for tree in trees]))
    order = of_tree[np.argsort(mesh.object_id[of_tree], kind="stable")]
    ids = mesh.object_id[order]
    owners: list[StaticObject] = []
    parts: list[Float64] = []
    tree_ids = np.array([tree.object_id for tree in trees], ids.dtype)  # same dtype: searchsorted would copy the ids
    first, last = np.searchsorted(ids, tree_ids), np.searchsorted(ids, tree_ids, side="right")
    for tree, begin, end in zip(trees, first, last, strict=True):
        triangles = order[begin:end]
        leaves = mesh.material[triangles] == FOLIAGE
        found = [_bounds(tree, mesh, triangles[chosen]) for chosen in (leaves, ~leaves) if chosen.any()]
        parts += found or [np.array([*tree.box_centre_m, *tree.box_half_m])]
        owners += [tree] * max(len(found), 1)
    return owners, np.array(parts).reshape(-1, 6)


def _bounds(tree: StaticObject, mesh: Mesh, triangles: Int32) -> Float64:
    points = mesh.vertices_m[mesh.triangles[triangles].reshape(-1)].astype(np.float64)
    yaw = np.radians(tree.pose[4])
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    local = points @ turn  # into the tree's own axes
    low, high = local.min(axis=0), local.max(axis=0)
    return np.concatenate([turn @ ((low + high) / 2), (high - low) / 2])
