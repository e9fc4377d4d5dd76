"""Pixel coverage of small flying objects at any subpixel position."""

import numpy as np
import numpy.typing as npt
import pytest
from headless_simulator.models import ModelLibrary
from headless_simulator.render import Renderer
from headless_simulator.render.camera import pack
from headless_simulator.render.patches import patches_of
from headless_simulator.scene import TAG, Mesh, Movers, RenderedImage, View, Weather, Window

MODELS = ModelLibrary()
VIEW = View((0.0, 0.0, 100.0, 0.0, 0.0, 0.0), 160, 120, 60.0)
FOCAL_PX = 80.0 / np.tan(np.radians(30.0))


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    """Draw a world of one triangle of land."""
    corners = np.array([[-6000, -6000, 0], [6000, -6000, 0], [0, 12000, 0]], np.float32)
    ground = np.array([TAG["ground"]], np.uint8)
    none = np.zeros(1, np.uint8)
    colour = np.full((1, 3), 90, np.uint8)
    return Renderer(
        Mesh(corners, np.array([[0, 1, 2]], np.int32), colour, ground, none, np.zeros(1, np.uint32)), MODELS
    )


def movers(blueprint: str, *places: tuple[float, float, float]) -> Movers:
    count = len(places)
    pose = np.array([[*position_m, 0.0, 90.0, 0.0] for position_m in places], dtype=np.float64).reshape(count, 6)
    number = np.full(count, MODELS.number(blueprint), np.int32)
    ids = np.arange(7, 7 + count, dtype=np.uint32)
    return Movers(number, pose, ids, np.full((count, 3), 200, np.uint8), np.zeros(count, np.uint32))


def image_of(renderer: Renderer, movers_now: Movers) -> RenderedImage:
    signals = np.zeros(0, np.uint8)
    return renderer.render(VIEW, movers_now, weather=Weather(), signals=signals, time_s=0.0, want_bgra=True)


def darkening(renderer: Renderer, position_m: tuple[float, float, float], blueprint: str) -> float:
    """Return the light that a dark object removes from the image, in black pixels."""
    clear = image_of(renderer, movers(blueprint)).bgra
    darkened = image_of(renderer, movers(blueprint, position_m)).bgra
    assert clear is not None
    assert darkened is not None
    return float((clear[..., 1].astype(int) - darkened[..., 1]).sum()) / 255.0


def test_window_enlarges_the_same_camera() -> None:
    window = Window(left=40, top=30, whole_width=160, whole_height=120, zoom=8)
    part = pack(View(VIEW.pose, 80, 80, 60.0, window))

    assert part[12] == pytest.approx(8 * FOCAL_PX)
    assert part[13:15] == pytest.approx([8 * (80 - 40), 8 * (60 - 30)])


def test_subpixel_object_never_vanishes(renderer: Renderer) -> None:
    """A drone a pixel and a half wide and half a pixel high, moved in steps of a fifth of a pixel."""
    away = 110.0
    step = away / FOCAL_PX / 5.0
    taken = [darkening(renderer, (away, 1.0 + step * n, 103.0), "static.prop.drone") for n in range(10)]

    assert min(taken) > 0.0
    assert max(taken) < 3.0 * min(taken)


def test_darkening_falls_with_squared_distance(renderer: Renderer) -> None:
    near, far = (darkening(renderer, (away, 1.0, 100.0 + away / 100), "static.prop.drone") for away in (20.0, 40.0))
    assert near / far == pytest.approx(4.0, rel=0.35)


def test_masks_follow_pixel_centres(renderer: Renderer) -> None:
    image = image_of(renderer, movers("static.prop.aeroplane", (150.0, 2.0, 105.0)))
    assert set(np.unique(image.ids).tolist()) <= {0, 7}
    assert (image.ids == 7).sum() > 0


def test_only_small_flying_objects_in_view_are_enlarged() -> None:
    def count(things: Movers) -> int:
        return len(list(patches_of(VIEW, things, MODELS.flying_radius_m[things.model])))

    assert count(movers("static.prop.aeroplane", (300.0, 0.0, 100.0))) == 1
    assert count(movers("static.prop.aeroplane", (-300.0, 0.0, 100.0))) == 0
    assert count(movers("static.prop.aeroplane", (9.0, 0.0, 100.0))) == 0
    assert count(movers("static.prop.aeroplane", (300.0, 900.0, 100.0))) == 0
    assert count(movers("vehicle.tesla.model3", (300.0, 0.0, 100.0))) == 0


def test_thin_wing_is_continuous_in_a_small_image(renderer: Renderer) -> None:
    """An aeroplane from behind at 590 m: its wing is a twentieth of a pixel high, and as dark wherever between two lines."""
    view = View(VIEW.pose, 306, 256, 67.8)

    def sky_green(*places: tuple[float, float, float]) -> npt.NDArray[np.int64]:
        movers_now = movers("static.prop.aeroplane", *places)
        movers_now.pose[:, 4] = 0.0
        image = renderer.render(
            view, movers_now, weather=Weather(), signals=np.zeros(0, np.uint8), time_s=0.0, want_bgra=True
        )
        assert image.bgra is not None
        return image.bgra[:128, :, 1].astype(np.int64)  # the sky; its shadow is below

    focal_px = 153.0 / np.tan(np.radians(33.9))
    clear = sky_green()
    taken = [np.abs(clear - sky_green((590.0, 1.0, 106.0 + 590.0 / focal_px * n / 10.0))).sum() for n in range(10)]

    assert min(taken) > 0.8 * max(taken)
