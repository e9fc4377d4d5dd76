"""Construction of the late renderer on first use, and delegation to it."""

import numpy as np
from headless_simulator.render import LateRenderer, Renderer
from headless_simulator.scene import View, Weather

from .worlds import LIBRARY, Builder, no_movers

VIEW = View((0.0, 0.0, 30.0, -90.0, 0.0, 0.0), 32, 18, 90.0)


class Maker:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> Renderer:
        self.calls += 1
        build = Builder()
        build.box((0.0, 0.0), (5.0, 5.0), 10.0, (90, 90, 90), "building", object_id=7)
        return Renderer(build.mesh(), LIBRARY)


def ids(renderer: LateRenderer | Renderer) -> np.ndarray:
    off = np.zeros(0, np.uint8)
    return renderer.render(VIEW, no_movers(), weather=Weather(), signals=off, time_s=0.0, want_bgra=False).ids


def test_renderer_is_built_once_on_first_use() -> None:
    make = Maker()
    late = LateRenderer(make)
    assert make.calls == 0

    image = ids(late)
    distance_m, *_ = late.cast(np.array([0.0, 0.0, 30.0]), np.array([[0.0, 0.0, -1.0]]), 100.0, no_movers())

    assert make.calls == 1
    np.testing.assert_array_equal(image, ids(Maker()()))
    np.testing.assert_allclose(distance_m, [20.0])


def test_derived_renderer_is_built_on_first_use() -> None:
    make = Maker()
    late = LateRenderer(make)
    bare = late.without(frozenset({7}))
    assert make.calls == 0
    assert late.without(frozenset()) is late
    assert late.painted({}, {}) is late

    assert not ids(bare).any()
    assert ids(late).any()
    assert make.calls == 1
