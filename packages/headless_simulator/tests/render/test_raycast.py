import numpy as np
import pytest
from headless_simulator.render import Renderer
from headless_simulator.scene import STATIC_ID, TAG, View, Weather

from .worlds import LIBRARY, Builder, city, ground, movers, no_movers, traffic

CITY = Renderer(city(), LIBRARY)


@pytest.mark.parametrize(
    "pose", [(0, 0, 60, -90, 0, 0), (-60, 0, 60, -45, 20, 0), (-57, -118, 2, -4, 12, 3), (10, 2, 30, -30, 200, 0)]
)
def test_rays_agree_with_the_image(pose: tuple[float, ...]) -> None:
    cast = traffic(200)
    x, y, z, pitch, yaw, roll = map(float, pose)
    view = View((x, y, z, pitch, yaw, roll), 240, 136, 90.0)
    image = CITY.render(
        view, cast, weather=Weather(), signals=np.zeros(0, np.uint8), time_s=0, want_bgra=False, want_normal=True
    )
    columns, rows = np.meshgrid(np.arange(240) + 0.5, np.arange(136) + 0.5)
    local = np.stack([np.ones_like(columns), (columns - 120) / 120, -(rows - 68) / 120], axis=-1).reshape(-1, 3)
    pitch, yaw, roll = np.radians(pose[3:])
    about_z = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    about_y = np.array([[np.cos(pitch), 0, -np.sin(pitch)], [0, 1, 0], [np.sin(pitch), 0, np.cos(pitch)]])
    about_x = np.array([[1, 0, 0], [0, np.cos(roll), np.sin(roll)], [0, -np.sin(roll), np.cos(roll)]])
    directions = local @ (about_z @ about_y @ about_x).T

    distance, ids, tag, cosine = CITY.cast(np.array(pose[:3]), directions, 2000.0, cast)

    depth = distance / np.linalg.norm(local, axis=1)
    image_depth, hit = image.depth_m.ravel(), np.isfinite(distance)
    np.testing.assert_array_equal(hit, np.isfinite(image_depth))
    same = hit & (ids == image.ids.ravel()) & (tag == image.tag.ravel())
    assert same.sum() >= 0.9995 * hit.sum()  # ties on edges may fall either way
    np.testing.assert_allclose(depth[same], image_depth[same], rtol=3e-4)
    assert np.median(np.abs(depth[same] / image_depth[same] - 1)) < 1e-6
    assert image.normal is not None
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    expected = -np.einsum("ij,ij->i", unit, image.normal.reshape(-1, 3))
    assert (np.abs(cosine[same] - expected[same]) < 1e-3).mean() > 0.995


def test_rays_hit_a_wall_at_known_distances() -> None:
    build = Builder()
    build.polygon([(10, -5, 0), (10, 5, 0), (10, 5, 6), (10, -5, 6)], (200, 0, 0), "building", object_id=4)
    renderer = Renderer(build.mesh(), LIBRARY)
    directions = np.array([[1.0, 0, 0], [2.0, 2.0 * np.tan(np.radians(20)), 0], [-1, 0, 0], [0, 0, 1], [0, 0, 0]])

    distance, ids, tag, cosine = renderer.cast(np.array([0.0, 0, 3]), directions, 50.0, no_movers())

    np.testing.assert_allclose(distance, [10, 10 / np.cos(np.radians(20)), np.inf, np.inf, np.inf], rtol=1e-6)
    np.testing.assert_allclose(cosine[:2], [1, np.cos(np.radians(20))], rtol=1e-6)
    assert ids.tolist() == [4 | STATIC_ID] * 2 + [0] * 3
    assert tag.tolist() == [TAG["building"]] * 2 + [0] * 3


def test_rays_end_at_their_range() -> None:
    renderer = Renderer(ground(), LIBRARY)
    down = np.array([[0.0, 0, -1]])

    assert np.isinf(renderer.cast(np.array([0.0, 0, 30]), down, 29.9, no_movers())[0]).all()
    assert renderer.cast(np.array([0.0, 0, 30]), down, 30.1, no_movers())[0][0] == pytest.approx(30)


def test_ray_hits_a_bus_at_known_distance() -> None:
    renderer = Renderer(ground(), LIBRARY)
    cast = movers(["vehicle.mitsubishi.fusorosa"], np.array([20.0, 0, 0, 0, 90, 0]))

    distance, ids, tag, _ = renderer.cast(np.array([0.0, 0, 1.9]), np.array([[1.0, 0, 0], [1.0, 0.6, 0]]), 100.0, cast)

    assert distance[0] == pytest.approx(20 - 1.32, abs=0.06)  # its flank, half a width nearer than its middle
    assert ids.tolist() == [100, 0]
    assert tag[0] == TAG["bus"]
