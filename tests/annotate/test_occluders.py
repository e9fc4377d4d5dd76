"""Occluders in hand-drawn masks: a camera at the origin looks along z at boxes of two metres."""

from dataclasses import replace

import numpy as np

from uavsim.annotate.kernels import most_in_front
from uavsim.annotate.occluders import Occlusion, occlusions
from uavsim.annotate.silhouettes import rays_in_boxes
from uavsim.annotate.solids import NO_LENS, PlacedCamera, Solids
from uavsim.geometry.se3 import SE3
from uavsim.records.labels import SceneLabels
from uavsim.records.recording import Recording
from uavsim.typing import UInt16Array

INTRINSIC = np.array([[100.0, 0, 50], [0, 100.0, 50], [0, 0, 1]])
CAMERA = PlacedCamera(SE3.identity(), INTRINSIC, 100, 100)
FAR, NEAR, BEHIND, NO_BOX = 5, 9, 7, 300  # instance ids; the far box fills pixels 45..54 in both directions


def front(ids: UInt16Array) -> tuple[list[int], list[int]]:
    poses = SE3(np.tile([1.0, 0, 0, 0], (3, 1)), np.array([[0.0, 0, 21], [0.4, 0, 11], [0.0, 0, 41]]))
    solids = Solids.of(poses, np.ones((3, 3)))
    away_m = np.full(65536, -1.0)
    away_m[[FAR, NEAR, BEHIND]] = 21.0, 11.0, 41.0
    window = np.array([[40, 40, 60, 60]] * 3)
    ids_of_boxes = np.array([FAR, NEAR, BEHIND])
    occluder, covered = most_in_front(rays_in_boxes(solids, CAMERA), window, ids, ids_of_boxes, away_m, NO_LENS)
    return occluder.tolist(), covered.tolist()


def mask(*parts: tuple[int, slice]) -> UInt16Array:
    """Return a (100, 100) mask with ids in columns of lines 45 to 54."""
    ids = np.zeros((100, 100), np.uint16)
    for number, columns in parts:
        ids[45:55, columns] = number
    return ids


def test_occluder_is_the_nearer_actor_that_covers_most() -> None:
    occluder, covered = front(mask((FAR, slice(45, 49)), (NEAR, slice(49, 55))))
    assert (occluder[0], covered[0]) == (NEAR, 60)
    assert (occluder[1], covered[1]) == (0, 0)  # pixels of the far box are behind the near one
    assert occluder[2] in (FAR, NEAR)


def test_actors_behind_or_without_a_box_are_no_occluders() -> None:
    assert front(mask((FAR, slice(45, 50)), (BEHIND, slice(50, 55))))[0][0] == 0
    assert front(mask((FAR, slice(45, 50)), (NO_BOX, slice(50, 55))))[0][0] == 0
    assert front(mask((FAR, slice(45, 55))))[0][0] == 0


def test_hidden_share() -> None:
    assert Occlusion(0, "CAMERA_FRONT_id_0", 5, 9, 60, 40, 100, 0.0).hidden_share == 0.6
    assert Occlusion(0, "CAMERA_FRONT_id_0", 5, 9, 0, 0, 0, 0.0).hidden_share == 1.0


def test_masks_without_a_selected_view_are_not_read(recording: Recording, labels: SceneLabels) -> None:
    every = list(occlusions(recording, labels))
    assert len(every) == len(labels.views.box_row)
    border = int(np.median(labels.views.visible_px))
    some = list(occlusions(recording, labels, only=lambda views: views.visible_px > border))
    assert some == [reported for reported in every if reported.visible_px > border]
    assert 0 < len(some) < len(every)
    nowhere = replace(recording, folder=recording.folder / "gone")
    assert not list(occlusions(nowhere, labels, only=lambda views: np.zeros(len(views.box_row), np.bool_)))
