"""Checks of images, on hand-made measurements and images."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from uavsim.validate.image_kernels import border_pairs
from uavsim.validate.image_measurements import _compare_edges, _Edges
from uavsim.validate.looks import FrameLook
from uavsim.validate.visual import not_frozen, of_this_tick


def car_at(column: int) -> np.ndarray:
    ids = np.zeros((60, 220), np.uint16)
    ids[15:45, column : column + 60] = 7
    return ids


def street(car_column: int, *, busy: slice) -> np.ndarray:
    """Return an (H, W) image of a dim car on a dark street, and bright stripes beside it."""
    luma = np.full((60, 220), 20, np.uint8)
    luma[:, busy] = np.where(np.arange(60)[:, None] % 2, 30, 130)
    luma[15:45, car_column : car_column + 60] = 45
    return luma


def findings(luma: np.ndarray, image_ids: np.ndarray, next_ids: np.ndarray) -> list[str]:
    looks = [FrameLook(row=0, digest="a"), FrameLook(row=1, digest="b")]
    _compare_edges(looks, [luma, None], [_Edges(*border_pairs(ids)) for ids in (image_ids, next_ids)], 0)
    data = SimpleNamespace(data_place=lambda _row: {})
    evidence = SimpleNamespace(looks=looks, data=data)
    return [found.code for found in of_this_tick(cast("object", evidence))]  # type: ignore[arg-type]


def test_borders_in_a_rich_texture_are_no_better_fit() -> None:
    luma = street(20, busy=slice(110, 220))
    assert not findings(luma, image_ids=car_at(20), next_ids=car_at(130))


@pytest.mark.parametrize("busy", [slice(0, 0), slice(170, 220)])
def test_an_image_of_the_next_tick_is_found(busy: slice) -> None:
    luma = street(90, busy=busy)
    assert findings(luma, image_ids=car_at(20), next_ids=car_at(90)) == ["visual.other_tick"]


def test_image_with_smoothed_borders_belongs_to_its_tick() -> None:
    """A car moves by less than a pixel: of the step at its sides, 31 are on its mask's border and 41 beside it."""
    beyond = np.arange(280) - np.arange(120)[:, None]  # columns to the right of a slanting line
    ids, after = (np.where((beyond >= at) & (beyond < at + 60), 7, 0).astype(np.uint16) for at in (40, 41))
    luma = np.where(after == 7, 92, 20).astype(np.uint8)
    assert findings(luma, image_ids=ids, next_ids=after) == ["visual.other_tick"]
    luma[beyond == 40], luma[beyond == 100] = 51, 61
    assert not findings(luma, image_ids=ids, next_ids=after)


def test_few_borders_are_no_better_fit() -> None:
    """The other mask only has a part of a car that enters the image at the end of a bright wall.

    The car of the image's own tick is between stripes of the same contrast as its borders.
    """
    luma = street(20, busy=slice(0, 0))
    luma[::2] += 15
    luma[10:40, 205:] = 255
    few = np.zeros((60, 220), np.uint16)
    few[10:40, 205:] = 7
    assert not findings(luma, image_ids=car_at(20), next_ids=few)


STANDS, MOVES = 0, 1
"""Rows of the first sample's boxes: 2 and 3 are the same objects in the second one."""


@pytest.mark.parametrize(
    ("before", "after", "frozen"),
    [
        ({STANDS: 5}, {2: 5}, False),  # nothing moves in sight: an image may be the one before
        ({}, {2: 5}, False),  # a standing object has a mask id from now on
        ({STANDS: 5}, {}, False),
        ({}, {3: 5}, True),
        ({MOVES: 5}, {}, True),
        ({MOVES: 5}, {3: 9}, True),
        ({STANDS: 5}, {2: 9}, True),  # by its mask it moved, regardless of its box
        ({}, {4: 5}, True),  # it was not there before
    ],
    ids=str,
)
def test_repeated_image_is_frozen_if_a_visible_object_moved(
    before: dict[int, int], after: dict[int, int], frozen: bool
) -> None:
    assert frozen_views(("a", before), ("a", after)) == [1] * frozen


@pytest.mark.parametrize(
    ("first", "second", "frozen"),
    [("b", "a", []), ("a", "a", [2]), ("a", "b", [])],  # of the first, what moves may have moved before the sweep
)
def test_sweeps_have_no_boxes_so_keyframes_are_compared(first: str, second: str, frozen: list[int]) -> None:
    """Objects moved within a keyframe's interval, though nothing moved since the last sweep."""
    assert frozen_views((first, {MOVES: 5}), ("a", None), (second, {3: 9})) == frozen


def frozen_views(*views: tuple[str, dict[int, int] | None]) -> list[int]:
    """Return the frozen views by digests and boxes (row: left edge); a sweep has None."""
    table = {
        "instance_token": np.array([0, 1, 0, 1, 2]),
        "next": np.array([2, 3, -1, -1, -1]),
        "prev": np.array([-1, -1, 0, 1, -1]),
        "translation": np.array([[0.0, 0, 0], [5, 0, 0], [0, 0, 0], [6, 0, 0], [9, 0, 0]]),
    }
    looks = [
        FrameLook(
            row=n,
            digest=digest,
            box_row=np.array(list(boxes or ()), np.int64),
            mask_box_px=np.array([[x, 0, x + 3, 3] for x in (boxes or {}).values()], np.int64).reshape(-1, 4),
        )
        for n, (digest, boxes) in enumerate(views)
    ]
    count = len(looks)
    cameras = SimpleNamespace(position_m=np.zeros((count, 3)), rotation=np.tile(np.eye(3), (count, 1, 1)))
    images = {"is_key_frame": np.array([boxes is not None for _, boxes in views])}
    data = type("Data", (dict,), {"data_place": lambda _self, row: {"scene": str(row)}})(
        sample_annotation=table, sample_data=images
    )
    evidence = SimpleNamespace(looks=looks, data=data, cameras=cameras, track=np.zeros(count))
    return [int(one.scene) for one in not_frozen(cast("object", evidence))]  # type: ignore[arg-type]
