from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from headless_simulator.render import Renderer
from headless_simulator.render.camera import NEAR_M
from headless_simulator.scene import STATIC_ID, TAG, Movers, RenderedImage, SignalHead, View, Weather
from hypothesis import given, settings
from hypothesis import strategies as st

from .worlds import LIBRARY, Builder, city, ground, movers, no_movers, traffic

OFF = np.zeros(0, dtype=np.uint8)
NOTHING = Builder()
NOTHING.polygon([(0, 0, -900), (1, 0, -900), (0, 1, -900)], (0, 0, 0), "ground")
EMPTY = Renderer(NOTHING.mesh(), LIBRARY)
GROUND = Renderer(ground(), LIBRARY)
CITY = Renderer(city(), LIBRARY)
DOWN = View((0.0, 0.0, 60.0, -90.0, 0.0, 0.0), 800, 450, 90.0)


def shoot(
    renderer: Renderer,
    view: View,
    cast: Movers | None = None,
    *,
    weather: Weather | None = None,
    colour: bool = False,
    normal: bool = False,
) -> RenderedImage:
    return renderer.render(
        view,
        no_movers() if cast is None else cast,
        weather=weather or Weather(),
        signals=OFF,
        time_s=0.0,
        want_bgra=colour,
        want_normal=normal,
    )


def turn(pitch: float, yaw: float, roll: float) -> np.ndarray:
    """Rz(yaw) Ry(-pitch) Rx(-roll) in CARLA's axes, put together from single turns."""
    p, y, r = np.radians([-pitch, yaw, -roll])
    about_z = np.array([[np.cos(y), -np.sin(y), 0], [np.sin(y), np.cos(y), 0], [0, 0, 1]])
    about_y = np.array([[np.cos(p), 0, np.sin(p)], [0, 1, 0], [-np.sin(p), 0, np.cos(p)]])
    about_x = np.array([[1, 0, 0], [0, np.cos(r), -np.sin(r)], [0, np.sin(r), np.cos(r)]])
    return about_z @ about_y @ about_x


def project(points: np.ndarray, view: View) -> tuple[np.ndarray, np.ndarray]:
    """Image positions and depths of world points: the formula every CARLA client uses, K [y, -z, x]."""
    local = (points - np.array(view.pose[:3])) @ turn(*view.pose[3:])
    focal = view.width / (2 * np.tan(np.radians(view.fov_deg) / 2))
    depth = local[:, 0]
    return np.stack(
        [view.width / 2 + focal * local[:, 1] / depth, view.height / 2 - focal * local[:, 2] / depth], axis=1
    ), depth


def body_points(cast: Movers, row: int) -> np.ndarray:
    vertices = LIBRARY.mesh(int(cast.model[row])).vertices_m.astype(np.float64)
    return vertices @ turn(*cast.pose[row, 3:]).T + cast.pose[row, :3]


angles = st.floats(-180, 180)


@settings(max_examples=60, deadline=None)
@given(
    blueprint=st.sampled_from([n for n in LIBRARY.blueprints if n.startswith(("vehicle", "walker"))]),
    rotation=st.tuples(st.floats(-40, 40), angles, st.floats(-40, 40)),
    camera=st.tuples(st.floats(-89, 89), angles, angles),
    away=st.floats(8, 45),
    aim=st.tuples(st.floats(-0.5, 0.5), st.floats(-0.3, 0.3)),
    fov=st.floats(20, 110),
)
def test_body_projects_as_in_a_pinhole_camera(blueprint, rotation, camera, away, aim, fov) -> None:
    axes = turn(*camera)
    sideways = away * np.tan(np.radians(fov / 2))
    at = np.array([3.0, -7.0, 12.0]) + axes @ np.array([away, aim[0] * sideways, aim[1] * sideways])
    view = View((3.0, -7.0, 12.0, *camera), 640, 400, fov)
    cast = movers([blueprint], np.array([*at, *rotation]))

    image = shoot(EMPTY, view, cast)

    points = body_points(cast, 0)
    pixels, depth = project(points, view)
    pixels = pixels[facing_vertices(points, int(cast.model[0]), view)]
    inside = (pixels >= 1).all() and (pixels <= np.array([639, 399])).all()
    rows, columns = np.nonzero(image.ids == 100)
    low, high = pixels.min(axis=0), pixels.max(axis=0)
    if len(rows):
        centres = np.stack([columns, rows], axis=1) + 0.5
        assert (centres >= low - 1e-6).all()
        assert (centres <= high + 1e-6).all()
        assert in_hull(centres, box_pixels(blueprint, cast, view)).all()
        seen_m = image.depth_m[rows, columns]
        assert depth.min() * (1 - 1e-5) <= seen_m.min() <= seen_m.max() <= depth.max() * (1 + 1e-5)
    if inside and (high - low).min() > 24:
        # Thin tips (handlebars, a mirror, a wheel seen along its tread) can miss pixel centres near their end.
        pixels_per_m = 640 / (2 * np.tan(np.radians(fov / 2))) / depth.min()
        slack = 1.0 + pixels_per_m * (0.06 if LIBRARY.half_extent(blueprint)[1] > 0.6 else 0.10)
        assert columns.min() - low[0] <= slack
        assert high[0] - columns.max() - 1 <= slack
        assert rows.min() - low[1] <= slack
        assert high[1] - rows.max() - 1 <= slack


def facing_vertices(points: np.ndarray, model: int, view: View) -> np.ndarray:
    """Vertices of the triangles that turn their outer side, (b - a) x (c - a), to the camera."""
    triangles = LIBRARY.mesh(model).triangles
    a, b, c = (points[triangles[:, i]] for i in range(3))
    towards = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - np.array(view.pose[:3])) < 0
    return np.unique(triangles[towards])


def box_pixels(blueprint: str, cast: Movers, view: View) -> np.ndarray:
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    local = np.array(LIBRARY.box_offset(blueprint)) + signs * np.array(LIBRARY.half_extent(blueprint))
    return project(local @ turn(*cast.pose[0, 3:]).T + cast.pose[0, :3], view)[0]


def in_hull(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Whether points lie in the convex hull of corners: on no side of any line through two corners are they alone."""
    inside = np.ones(len(points), dtype=bool)
    for i in range(len(corners)):
        for j in range(len(corners)):
            edge = corners[j] - corners[i]
            normal = np.array([-edge[1], edge[0]])
            if i != j and ((corners - corners[i]) @ normal >= -1e-9).all():
                inside &= (points - corners[i]) @ normal >= -1e-6 * max(1.0, float(np.linalg.norm(normal)))
    return inside


@settings(max_examples=30, deadline=None)
@given(height_m=st.floats(0.3, 120), pitch=st.floats(-90, 20), yaw=angles, roll=angles, fov=st.floats(5, 170))
def test_ground_depth_equals_ray_plane_intersection(
    height_m: float, pitch: float, yaw: float, roll: float, fov: float
) -> None:
    view = View((1.5, -2.5, height_m, pitch, yaw, roll), 320, 200, fov)

    image = shoot(GROUND, view)

    focal = 320 / (2 * np.tan(np.radians(fov) / 2))
    columns, rows = np.meshgrid(np.arange(320) + 0.5, np.arange(200) + 0.5)
    local = np.stack([np.ones_like(rows), (columns - 160) / focal, -(rows - 100) / focal], axis=-1)
    ray = local @ turn(pitch, yaw, roll).T
    with np.errstate(divide="ignore"):
        depth = -height_m / ray[..., 2]
    foot = np.abs(np.array([1.5, -2.5]) + depth[..., None] * ray[..., :2]).max(axis=-1)
    on_plane = (ray[..., 2] < 0) & (foot < 199.9) & (depth > 1.01 * NEAR_M)
    np.testing.assert_allclose(image.depth_m[on_plane], depth[on_plane], rtol=2e-5)
    off_plane = (ray[..., 2] > 0) | (foot > 200.1)
    assert np.isinf(image.depth_m[off_plane]).all()
    assert (image.tag[off_plane] == TAG["sky"]).all()
    assert (image.tag[on_plane] == TAG["road"]).all()


def test_city_has_no_cracks() -> None:
    rng = np.random.default_rng(2)
    for _ in range(25):
        x, y = rng.uniform(-60, 60, size=2)
        view = View((x, y, rng.uniform(40, 90), -90 + rng.uniform(-8, 8), rng.uniform(0, 360), 0.0), 400, 300, 70.0)
        assert not (shoot(CITY, view).tag == TAG["sky"]).any()


def test_car_60_m_below_has_expected_size() -> None:
    """400 px focal length, 60 m: 6.67 px a metre. A box 4.792 m long, 2.164 m wide, roof 58.5 m away."""
    cast = movers(["vehicle.tesla.model3"], np.array([0.0, 0, 0, 0, 0, 0]))

    image = shoot(GROUND, DOWN, cast)

    rows, columns = np.nonzero(image.ids == 100)
    assert 31 <= rows.max() - rows.min() + 1 <= 33  # length is up the image: 4.792 * 400 / 59.4 = 32.3
    assert 14 <= columns.max() - columns.min() + 1 <= 15
    assert abs(columns.mean() + 0.5 - 400) < 0.6
    assert abs(rows.mean() + 0.5 - 225) < 1.0
    assert image.depth_m[225, 400] == pytest.approx(60 - 2 * 0.744, abs=0.02)
    assert (image.tag[rows, columns] == TAG["car"]).all()


def test_ids_name_movers_and_static_objects() -> None:
    image = shoot(CITY, DOWN, traffic(60))

    static = image.ids[(image.ids & STATIC_ID) > 0] & 0x7FFF_FFFF
    assert set(np.unique(image.tag[(image.ids & STATIC_ID) > 0])) <= {TAG["building"], TAG["vegetation"]}
    assert static.min() >= 1
    moving = (image.ids > 0) & ((image.ids & STATIC_ID) == 0)
    assert {TAG["car"]} <= set(np.unique(image.tag[moving])) <= {12, 13, 14, 15, 16, 18, 19}
    assert (image.ids[image.tag == TAG["road"]] == 0).all()


def test_house_occludes_the_car_behind_it() -> None:
    build = Builder()
    build.box((10, 0), (1, 6), 8, (200, 200, 200), "building", object_id=7)
    renderer = Renderer(build.mesh(), LIBRARY)
    cast = movers(["vehicle.audi.tt"] * 2, np.array([[20.0, 0, 0, 0, 0, 0], [5.0, 0, 0, 0, 0, 0]]))

    image = shoot(renderer, View((0, 0, 1.0, 0, 0, 0), 200, 100, 60.0), cast)

    assert set(np.unique(image.ids)) == {0, 101, 7 | STATIC_ID}


def test_untagged_class_shows_what_is_behind() -> None:
    build = Builder()
    build.box((10, 0), (1, 6), 8, (90, 120, 60), "terrain")
    build.box((30, 0), (1, 40), 30, (200, 200, 200), "building", object_id=7)
    renderer, view = Renderer(build.mesh(), LIBRARY), View((0, 0, 1.0, 0, 0, 0), 200, 100, 60.0)
    cast = movers(["vehicle.audi.tt"], np.array([[20.0, 0, 0, 0, 0, 0]]))

    hidden, through = (shoot(one, view, cast) for one in (renderer, renderer.untagged(frozenset({TAG["terrain"]}))))

    assert TAG["terrain"] in hidden.tag
    assert 100 not in hidden.ids
    assert TAG["terrain"] not in through.tag
    assert 100 in through.ids
    elsewhere = hidden.tag != TAG["terrain"]
    np.testing.assert_array_equal(hidden.ids[elsewhere], through.ids[elsewhere])


def test_painting_changes_colour_only() -> None:
    build = Builder()
    build.box((10, -3), (1, 2), 8, (200, 200, 200), "building", object_id=7)
    build.box((10, 3), (1, 2), 8, (200, 200, 200), "building", object_id=9)
    renderer, view = Renderer(build.mesh(), LIBRARY), View((0, 0, 1.0, 0, 0, 0), 200, 100, 60.0)
    before = shoot(renderer, view, colour=True)
    after = shoot(renderer.painted({9: (250, 0, 0)}, {}), view, colour=True)

    assert before.bgra is not None
    assert after.bgra is not None
    object_mask = after.ids == 9 | STATIC_ID
    np.testing.assert_array_equal(after.bgra[~object_mask], before.bgra[~object_mask])
    blue, green, red = (after.bgra[object_mask][:, k].astype(int) for k in range(3))
    assert (red > 3 * np.maximum(blue, green)).all()
    for name in ("depth_m", "ids", "tag"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    again = shoot(renderer, view, colour=True)
    np.testing.assert_array_equal(again.bgra, before.bgra)


def test_weather_changes_colour_only() -> None:
    cast = traffic(60)
    view = View((-60.0, 0.0, 60.0, -45.0, 10.0, 0.0), 400, 225, 90.0)
    clear = shoot(CITY, view, cast, colour=True, normal=True)
    for weather in (
        Weather(sun_altitude_angle=-40), Weather(sun_altitude_angle=6, sun_azimuth_angle=80), Weather(fog_density=60),
        Weather(precipitation=90, precipitation_deposits=80, wetness=90, cloudiness=90), Weather(dust_storm=80),
    ):  # fmt: skip
        other = shoot(CITY, view, cast, weather=weather, colour=True, normal=True)
        assert other.bgra is not None
        assert clear.bgra is not None
        assert np.abs(other.bgra.astype(int) - clear.bgra).mean() > 4
        for name in ("depth_m", "ids", "tag", "normal"):
            np.testing.assert_array_equal(getattr(other, name), getattr(clear, name))


def test_masks_are_equal_without_colour() -> None:
    cast = traffic(40)
    plain, full = shoot(CITY, DOWN, cast), shoot(CITY, DOWN, cast, colour=True)

    assert plain.bgra is None
    np.testing.assert_array_equal(plain.ids, full.ids)
    np.testing.assert_array_equal(plain.depth_m, full.depth_m)


def test_threads_draw_identical_images() -> None:
    cast = traffic(80)
    views = [View((10.0 * i, 0.0, 40.0, -50.0, 40.0 * i, 0.0), 320 + 16 * i, 200, 80.0) for i in range(6)]
    alone = [shoot(CITY, view, cast, colour=True) for view in views]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda view: shoot(CITY, view, cast, colour=True), views))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a.depth_m, b.depth_m)
        np.testing.assert_array_equal(a.bgra, b.bgra)


def test_normals_face_the_camera() -> None:
    image = shoot(CITY, DOWN, traffic(20), normal=True)

    assert image.normal is not None
    np.testing.assert_allclose(
        image.normal[image.tag == TAG["road"]], [[0, 0, 1]] * (image.tag == TAG["road"]).sum(), atol=1e-6
    )
    assert (image.normal[..., 2] >= -1e-6).mean() > 0.999  # seen from above hardly anything faces down


def test_a_green_lamp_shines_when_it_is_green() -> None:
    build = Builder()
    for i, (colour, material) in enumerate((((120, 10, 10), 8), ((120, 100, 10), 9), ((10, 120, 40), 10))):
        z = 5 - 0.4 * i
        build.polygon(
            [(10, -0.2, z), (10, 0.2, z), (10, 0.2, z + 0.3), (10, -0.2, z + 0.3)],
            colour,
            "traffic_light",
            material=material,
        )
    head = SignalHead(
        (10, 0, 0, 0, 0, 0), "1", 0, 0, np.zeros((0, 6)), (0, 0, 0, 1, 1, 1, 0), np.arange(6, dtype=np.int32)
    )
    renderer = Renderer(build.mesh(), LIBRARY, (head,))
    view = View((0, 0, 4.7, 0, 0, 0), 300, 300, 20.0)

    def brightness(state: int) -> list[float]:
        image = renderer.render(
            view, no_movers(), weather=Weather(), signals=np.array([state], np.uint8), time_s=0.0, want_bgra=True
        )
        assert image.bgra is not None
        rows = np.nonzero((image.tag == TAG["traffic_light"]).any(axis=1))[0]
        lamps = [rows[: len(rows) // 3], rows[len(rows) // 3 : 2 * len(rows) // 3], rows[2 * len(rows) // 3 :]]
        return [float(image.bgra[part, 150, :3].max(axis=-1).mean()) for part in lamps]

    off = brightness(3)
    for state in range(3):
        gain = np.array(brightness(state)) - off
        assert gain.argmax() == state
        assert gain[state] > 30
        assert abs(np.delete(gain, state)).max() < 1


def test_mover_with_nan_pose_is_not_drawn() -> None:
    cast = movers(["vehicle.audi.tt"], np.array([np.nan, 0, 0, 0, 0, 0]))

    assert (shoot(GROUND, DOWN, cast).ids == 0).all()


def test_shadow_of_a_mover_points_away_from_the_sun() -> None:
    """Sun in the west (azimuth 180: towards -x), 45 degrees up: the shadow of a bus lies 0..3 m east of it."""
    weather = Weather(sun_altitude_angle=45.0, sun_azimuth_angle=180.0)
    bare = shoot(GROUND, DOWN, no_movers(), weather=weather, colour=True)
    cast = movers(["vehicle.mitsubishi.fusorosa"], np.array([0.0, 0, 0, 0, 90, 0]))

    shaded = shoot(GROUND, DOWN, cast, weather=weather, colour=True)
    after = shoot(GROUND, DOWN, no_movers(), weather=weather, colour=True)

    assert bare.bgra is not None
    assert shaded.bgra is not None
    darker = (shaded.bgra[..., 1].astype(int) < bare.bgra[..., 1].astype(int) - 15) & (shaded.ids == 0)
    rows, _ = np.nonzero(darker)
    east_m = (225 - (rows + 0.5)) * 60 / 400  # up the image is +x
    assert len(rows) > 300
    assert 1.2 < east_m.min() < 1.6  # from its flank
    assert 3.9 < east_m.max() < 4.7  # to its flank and its height of 3.12 m
    np.testing.assert_array_equal(after.bgra, bare.bgra)


def test_head_lights_light_the_road_ahead_at_night() -> None:
    night = Weather(sun_altitude_angle=-40.0)
    pose = np.array([0.0, 0, 0, 0, 90, 0])  # facing +y: to the right of the image
    dark = shoot(GROUND, DOWN, movers(["vehicle.tesla.model3"], pose), weather=night, colour=True)
    lit = shoot(GROUND, DOWN, movers(["vehicle.tesla.model3"], pose, lights=3), weather=night, colour=True)

    assert dark.bgra is not None
    assert lit.bgra is not None
    gain = lit.bgra[..., 2].astype(int) - dark.bgra[..., 2]
    assert gain[225, 440:480].mean() > 15  # 6 to 12 m ahead
    assert np.abs(gain[225, 300:380]).max() == 0  # behind
    assert np.abs(gain[100:150]).max() == 0  # far to its side


def test_fog_hides_what_is_far_first() -> None:
    view = View((-110.0, 2.0, 3.0, 0.0, 0.0, 0.0), 200, 120, 60.0)
    clear = shoot(CITY, view, colour=True)
    foggy = shoot(CITY, view, weather=Weather(fog_density=40.0, fog_falloff=0.0), colour=True)

    assert clear.bgra is not None
    assert foggy.bgra is not None
    near, far = clear.depth_m < 15, (clear.depth_m > 60) & (clear.depth_m < 200)
    assert foggy.bgra[far].std(axis=0)[:3].mean() < 0.75 * clear.bgra[far].std(axis=0)[:3].mean()
    change = np.abs(foggy.bgra.astype(int) - clear.bgra).mean(axis=-1)
    assert change[far].mean() > change[near].mean() * 0.5
