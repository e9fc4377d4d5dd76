"""CARLA's projection of box corners by its documentation, for comparison with the devkit's.

Left-handed frame (x forward, y right, z up), angles in degrees, matrix of carla.Transform.get_matrix; a camera sees x to the
right = y_ue, y down = -z_ue, depth = x_ue. Reads the extra fields of the tables and shares no code with uavsim.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from tools.common.factories import ue_matrix

FLIP_Y = np.array([1.0, -1.0, 1.0])
DEVKIT_ORDER = np.array(
    [[1, 1, 1], [1, -1, 1], [1, -1, -1], [1, 1, -1], [-1, 1, 1], [-1, -1, 1], [-1, -1, -1], [-1, 1, -1]]
)


def load(root: Path, version: str, table: str) -> dict[str, dict[str, Any]]:
    return {row["token"]: row for row in json.loads((root / version / f"{table}.json").read_text())}


def corners_ue(box: dict[str, Any]) -> np.ndarray:
    """Return (8, 3) world corners in CARLA's frame, metres, in the devkit's order."""
    width, length, height = box["size"]
    local = DEVKIT_ORDER * np.array([length, width, height]) / 2 * FLIP_Y
    origin, offset = np.array(box["uav_actor_translation"]) * FLIP_Y, np.array(box["uav_bbox_offset"]) * FLIP_Y
    return origin + (local + offset) @ ue_matrix(*box["uav_euler_deg"]).T


def project_ue(points: np.ndarray, camera: dict[str, Any], intrinsic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (N, 2) pixels and (N,) depths, metres, of (N, 3) points in CARLA's frame."""
    camera_ue = (points - np.array(camera["translation"]) * FLIP_Y) @ ue_matrix(*camera["euler_deg"])
    optical = np.stack([camera_ue[:, 1], -camera_ue[:, 2], camera_ue[:, 0]], axis=1)
    pixels = optical @ intrinsic.T
    return pixels[:, :2] / pixels[:, 2:], optical[:, 2]
