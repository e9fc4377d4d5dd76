"""Amodal pixels of an object from its visible pixels, silhouette and blockers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.annotate.amodal import amodal_pixels


def amodal(visible: int, silhouette: int, blockers: int, fill: float) -> int:
    found = amodal_pixels(
        np.array([visible]),
        silhouette_px=np.array([silhouette]),
        blockers_px=np.array([blockers]),
        fill=np.array([fill]),
    )
    return int(found[0])


@pytest.mark.parametrize(
    ("visible", "silhouette", "blockers", "fill", "expected"),
    [
        (80, 100, 0, 0.8, 80),  # in the open: what is seen
        (30, 100, 60, 0.8, 80),  # 60 pixels are covered: all of the expected 80
        (70, 100, 4, 0.8, 74),  # only 4 are covered: no more than these were hidden
        (10, 100, 5, 0.8, 80),  # hidden by what looks like ground: nothing is seen in front, the fill is trusted
        (90, 100, 0, 0.8, 90),  # more than expected is seen: it is at least that
        (0, 0, 0, 0.8, 0),
    ],
)
def test_examples(visible: int, silhouette: int, blockers: int, fill: float, expected: int) -> None:
    assert amodal(visible, silhouette, blockers, fill) == expected


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 10_000), st.floats(0, 1))
def test_amodal_is_between_visible_and_silhouette(visible: int, more: int, blockers: int, fill: float) -> None:
    silhouette = visible + more
    assert visible <= amodal(visible, silhouette, min(blockers, silhouette - visible), fill) <= silhouette
