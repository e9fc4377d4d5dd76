from dataclasses import replace

import numpy as np
import pytest
from headless_simulator.render import Renderer
from headless_simulator.scene import RenderedImage, View, Weather

from .worlds import LIBRARY, city, nobody


def draw(renderer: Renderer, view: View) -> RenderedImage:
    off = np.zeros(0, np.uint8)
    return renderer.render(view, nobody(), weather=Weather(), signals=off, time_s=0.0, want_bgra=False)


def test_an_image_that_an_error_ended_leaves_nothing_in_the_next(monkeypatch) -> None:
    view, small = View((0, 0, 50, -60, 20, 0), 160, 90, 90.0), View((0, 0, 50, -60, 20, 0), 64, 36, 90.0)
    town = Renderer(city(), LIBRARY)
    wanted = draw(town, view)
    with monkeypatch.context() as broken:
        broken.setattr("headless_simulator.render.renderer.mover_tables", None)
        with pytest.raises(TypeError):
            draw(town, replace(view, pose=(0, 0, 9, -90, 20, 0)))
    draw(town, small)

    again = draw(town, view)

    assert (again.depth_m == wanted.depth_m).all()
    assert (again.ids == wanted.ids).all()
