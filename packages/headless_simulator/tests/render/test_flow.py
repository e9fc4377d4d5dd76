from dataclasses import replace

import numpy as np
import pytest
from headless_simulator.render import Before, optical_flow
from headless_simulator.scene import Movers, RenderedImage, View

from .test_renderer import CITY, DOWN, EMPTY, GROUND, project, shoot, turn
from .worlds import movers, no_movers, traffic

LEVEL = View((0.0, 0.0, 10.0, 0.0, 0.0, 0.0), 640, 361, 90.0)  # the middle row is the horizon


def shifted(cast: Movers, *, forward_m: float = 0.0, yaw_deg: float = 0.0) -> Movers:
    """Return the movers after a move ahead and a turn."""
    pose = cast.pose.copy()
    ahead = np.radians(pose[:, 4])
    pose[:, :2] += forward_m * np.stack([np.cos(ahead), np.sin(ahead)], axis=1)
    pose[:, 4] += yaw_deg
    return replace(cast, pose=pose)


def flow_px(view: View, before: View, image: RenderedImage, now: Movers, then: Movers) -> np.ndarray:
    """Motion in pixels, right and down, by the conversion that clients use."""
    flow = optical_flow(image, view, now, Before(before.pose, then)).astype(np.float64)
    return flow * [view.width / 2, -view.height / 2]


def test_flow_is_zero_at_rest() -> None:
    cast = traffic(40)
    image = shoot(CITY, DOWN, cast)

    assert not optical_flow(image, DOWN, cast, Before(DOWN.pose, cast)).any()


@pytest.mark.parametrize(("step_m", "right", "down"), [((0.0, 3.0), -20.0, 0.0), ((3.0, 0.0), 0.0, 20.0)])
def test_ground_flow_of_a_moving_nadir_camera(step_m: tuple[float, float], right: float, down: float) -> None:
    """60 m up with a focal length of 400 pixels, 3 m are 20 pixels; the image's top is forward."""
    now = replace(DOWN, pose=(step_m[0], step_m[1], *DOWN.pose[2:]))

    motion = flow_px(now, DOWN, shoot(GROUND, now), no_movers(), no_movers())

    np.testing.assert_allclose(motion, np.broadcast_to([right, down], motion.shape), atol=2e-3)


def test_flow_is_in_clip_space_units() -> None:
    """CARLA's units: 20 pixels down of 450 are -20 * 2 / 450."""
    now = replace(DOWN, pose=(3.0, 0.0, *DOWN.pose[2:]))

    flow = optical_flow(shoot(GROUND, now), now, no_movers(), Before(DOWN.pose, no_movers()))

    assert flow.shape == (450, 800, 2)
    assert flow.dtype == np.float32
    assert flow[200, 300] == pytest.approx([0.0, -20 * 2 / 450], abs=1e-5)


def test_sky_flow_depends_on_rotation_only() -> None:
    """What is seen at the angle a from the middle was at a + 5 degrees before the camera turned right by 5 degrees."""
    now = replace(LEVEL, pose=(40.0, -7.0, 25.0, 0.0, 5.0, 0.0))

    motion = flow_px(now, LEVEL, shoot(EMPTY, now), no_movers(), no_movers())

    columns = np.arange(640) + 0.5 - 320
    expected = columns - 320 * np.tan(np.arctan(columns / 320) + np.radians(5))
    np.testing.assert_allclose(motion[180, :, 0], expected, atol=1e-3)
    np.testing.assert_allclose(motion[180, :, 1], 0.0, atol=1e-3)


def test_flow_of_a_camera_roll() -> None:
    now = replace(LEVEL, pose=(0.0, 0.0, 10.0, 0.0, 0.0, 2.0))

    motion = flow_px(now, LEVEL, shoot(EMPTY, now), no_movers(), no_movers())

    # 310.5 pixels right of the middle it was 2 degrees further down
    expected = 310.5 * (1 - np.cos(np.radians(2))), -310.5 * np.sin(np.radians(2))
    assert motion[180, 630] == pytest.approx(expected, abs=1e-3)
    assert motion[180, 9] == pytest.approx([-expected[0], -expected[1]], abs=1e-3)


def test_static_camera_sees_flow_of_moving_actors_only() -> None:
    """Driving 1.2 m to the right at a depth of about 58.5 m (60 less the roof) and 400 pixels of focal length."""
    then = movers(["vehicle.tesla.model3", "vehicle.audi.tt"], np.array([[0, 0, 0, 0, 90, 0], [30, 0, 0, 0, 90, 0]]))
    now = replace(then, pose=then.pose + [[0, 1.2, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
    image = shoot(GROUND, DOWN, now)

    motion = flow_px(DOWN, DOWN, image, now, then)

    np.testing.assert_array_equal((motion != 0).any(axis=-1), image.ids == then.actor_id[0])
    mask = image.ids == then.actor_id[0]
    np.testing.assert_allclose(motion[mask][:, 0], 400 * 1.2 / image.depth_m[mask], rtol=1e-4)
    np.testing.assert_allclose(motion[mask][:, 1], 0.0, atol=1e-4)


def test_new_movers_have_no_flow() -> None:
    now = movers(["vehicle.tesla.model3", "vehicle.audi.tt"], np.array([[0, 0, 0, 0, 9, 0], [30, 0, 0, 0, 90, 0]]))
    image = shoot(GROUND, DOWN, now)

    for then in (no_movers(), movers(["vehicle.audi.tt"], np.array([30, 0, 0, 0, 90, 0]), first_id=101)):
        assert not flow_px(DOWN, DOWN, image, now, then).any()


def was_at(view: View, image: RenderedImage, now: Movers, then: Movers) -> np.ndarray:
    """World points that the pixels show, each where it was before: put together from single turns, one mover at a time."""
    v, u = np.mgrid[: view.height, : view.width] + 0.5
    focal = view.width / (2 * np.tan(np.radians(view.fov_deg) / 2))
    local = np.stack([np.ones_like(u), (u - view.width / 2) / focal, (view.height / 2 - v) / focal], axis=-1)
    depth_m = np.where(np.isfinite(image.depth_m), image.depth_m, 0.0)
    points = local * depth_m[..., None] @ turn(*view.pose[3:]).T + np.array(view.pose[:3])
    for actor, a, b in zip(now.actor_id, now.pose, then.pose, strict=True):
        mask = image.ids == actor
        points[mask] = (points[mask] - a[:3]) @ turn(*a[3:]) @ turn(*b[3:]).T + b[:3]
    return points


@pytest.mark.parametrize("seed", range(4))
def test_flow_leads_back_to_previous_positions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    then = traffic(250, seed=seed)
    now = shifted(then, forward_m=0.7, yaw_deg=4.0)
    x, y, pitch, yaw = rng.uniform([-30, -30, -60, 0], [30, 30, -20, 360]).tolist()
    before = View((x, y, 25.0, pitch, yaw, 3.0), 400, 300, 80.0)
    view = replace(before, pose=tuple((np.array(before.pose) + rng.uniform(-1, 1, 6)).tolist()))
    image = shoot(CITY, view, now)

    motion = flow_px(view, before, image, now, then)

    solid = np.isfinite(image.depth_m)
    v, u = np.nonzero(solid)
    was, depth = project(was_at(view, image, now, then)[solid], before)
    back = np.stack([u, v], axis=1) + 0.5 - motion[solid]
    near = (depth > 1) & (np.abs(was - [200, 150]) < [380, 280]).all(axis=1)
    assert near.mean() > 0.9
    assert np.isin(image.ids[solid][near], now.actor_id).sum() > 300  # some of them drive
    np.testing.assert_allclose(back[near], was[near], atol=0.02)


def test_flow_from_behind_the_camera_is_clipped() -> None:
    then = replace(DOWN, pose=(0.0, 0.0, 60.0, 80.0, 0.0, 0.0))

    flow = optical_flow(shoot(GROUND, DOWN), DOWN, no_movers(), Before(then.pose, no_movers()))

    assert np.isfinite(flow).all()
    assert np.abs(flow).max() == 2.0
