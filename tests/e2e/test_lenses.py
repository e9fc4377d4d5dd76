"""Lenses from YAML to pixels, compared with OpenCV's and Kalibr's formulas and pinholes of the same mount."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

import uavsim
from tests.e2e.flights import Flights
from tests.geometry.formulas import Formula, kalibr_project, opencv_project
from uavsim.typing import FloatArray, UInt8Array
from uavsim.validate.validator import validate_version

pytestmark = pytest.mark.release

MODELS = {"BROWN": "brown_conrady", "FISHEYE": "equidistant"}
MOST_PX = 0.1
ENOUGH_PX = 60
MANY = 5


@pytest.fixture(scope="module")
def out(flights: Flights) -> Path:
    return flights.lenses()


def views(out: Path, name: str) -> Iterator[tuple[uavsim.Image, uavsim.Image, uavsim.Image]]:
    """Yield images of a lens, the pinhole and the fine pinhole of the same drone and tick."""
    for sample in uavsim.open(out).scene("scene_0000").samples:
        by_drone: dict[int, dict[str, uavsim.Image]] = {}
        for image in sample.images:
            by_drone.setdefault(image.drone_id, {})[image.camera] = image
        for images in by_drone.values():
            yield images[name], images["PINHOLE"], images["FINE"]


def calibration(out: Path, camera: str) -> tuple[FloatArray, FloatArray]:
    """Return (3, 3) intrinsics, pixels, and (K,) coefficients from the table."""
    tables = {
        name: json.loads((out / f"v1.0-mini/{name}.json").read_bytes()) for name in ("sensor", "calibrated_sensor")
    }
    token = next(row["token"] for row in tables["sensor"] if row["channel"] == f"CAMERA_{camera}_id_0")
    row = next(row for row in tables["calibrated_sensor"] if row["sensor_token"] == token)
    assert row["uav_lens"] == MODELS[camera]
    return np.array(row["camera_intrinsic"]), np.array(row["uav_distortion"])


def test_the_validator_finds_nothing(out: Path) -> None:
    assert [f for f in validate_version(out, "v1.0-mini", workers=1).findings if not f.code.startswith("motion")] == []


def middles_off(
    lens_image: uavsim.Image, fine: uavsim.Image, project: Callable[[FloatArray], FloatArray]
) -> Iterator[FloatArray]:
    """Yield distances of each object's mask centre from the projected centre of its fine pixels.

    Each fine pixel is weighted by the area of its projected corners. Rows: x, y, pixels, and expected area.
    """
    ids, fine_ids = lens_image.mask()[0], fine.mask()[0]
    for instance in np.setdiff1d(np.intersect1d(ids, fine_ids), [0]).tolist():
        object_px, fine_px = (np.stack(np.nonzero(mask == instance)[::-1], axis=1) for mask in (ids, fine_ids))
        inside = ((px > 0) & (px < np.array(i.size_px) - 1) for px, i in ((object_px, lens_image), (fine_px, fine)))
        if not all(rows.all() for rows in inside) or len(object_px) < ENOUGH_PX:
            continue
        corners = (fine_px[:, None] + [[0, 0], [1, 0], [1, 1], [0, 1]]).astype(float)
        quad = project(fine.rays(corners).reshape(-1, 3)).reshape(-1, 4, 2)
        (ax, ay), (bx, by) = (quad[:, 2] - quad[:, 0]).T, (quad[:, 3] - quad[:, 1]).T
        area = np.abs(ax * by - ay * bx) / 2
        middle = (quad.mean(axis=1) * area[:, None]).sum(axis=0) / area.sum()
        yield np.array([*(object_px.mean(axis=0) + 0.5 - middle), len(object_px), area.sum()])


@pytest.mark.parametrize("formula", [opencv_project, kalibr_project], ids=["OpenCV", "Kalibr"])
@pytest.mark.parametrize("name", list(MODELS))
def test_objects_lie_where_the_formulas_put_a_finer_pinholes_pixels(name: str, formula: Formula, out: Path) -> None:
    """The distance is at most that of a pinhole of the same size, which is the error of the pixel grid."""
    matrix, k = calibration(out, name)
    offsets_px = np.array(
        [row for i, _, f in views(out, name) for row in middles_off(i, f, lambda r: formula(r, matrix, k))]
    )
    plain = np.array(
        [row for _, i, f in views(out, name) for row in middles_off(i, f, lambda r: r[:, :2] * 240.0 + [240, 135])]
    )
    assert len(offsets_px) > 20
    assert np.abs(np.average(offsets_px[:, :2], axis=0, weights=offsets_px[:, 2])).max() < MOST_PX
    assert np.median(np.hypot(*offsets_px[:, :2].T)) < 1.3 * np.median(np.hypot(*plain[:, :2].T))
    assert offsets_px[:, 2].sum() == pytest.approx(offsets_px[:, 3].sum(), rel=0.02)


@pytest.mark.parametrize("name", list(MODELS))
def test_points_of_the_depth_are_those_of_the_pinholes(name: str, out: Path) -> None:
    """Points by depth lie on a surface of the same object in the finer pinhole."""
    for lens_image, _, fine in views(out, name):
        depth_m, fine_m = lens_image.depth_m(), fine.depth_m()
        (ids, tags), (fine_ids, fine_tags) = lens_image.mask(), fine.mask()
        v, u = (grid.ravel() for grid in np.indices(depth_m.shape))
        near = depth_m[v, u] < 300
        v, u = v[near], u[near]
        rays = lens_image.rays(np.stack([u, v], axis=1).astype(np.float64) + 0.5)
        map_m = lens_image.map_SE3_optical.apply(rays * depth_m[v, u][:, None])
        x, y = np.floor(fine.project(map_m)).T.astype(int)
        inside = (x >= 0) & (x < 1440) & (y >= 0) & (y < 810)
        v, u, x, y = v[inside], u[inside], x[inside], y[inside]
        assert inside.mean() > 0.5
        deep = np.abs(fine_m[y, x] / depth_m[v, u] - 1.0)
        assert np.median(deep) < 2e-3
        assert (tags[v, u] == fine_tags[y, x]).mean() > 0.97
        same = ids[v, u] == fine_ids[y, x]
        assert same[ids[v, u] > 0].mean() > 0.9


def shift_px(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the (2,) shift between two tiles, right and down, pixels, by least squares over their gradients."""
    down, across = np.gradient((one + other) / 2)
    slopes = np.stack([across.ravel(), down.ravel()], axis=1)
    return np.asarray(np.linalg.lstsq(slopes, (one - other).ravel(), rcond=None)[0])


@pytest.mark.parametrize("name", list(MODELS))
def test_undistorted_images_are_the_pinholes(name: str, out: Path) -> None:
    """The mean shift of each tile against the downsampled image of the finer pinhole is small.

    Rendered level edges are up to a sixth of a pixel off, because they lie on whole image lines; the mean over ten images
    removes this error.
    """

    def grey(image: UInt8Array) -> FloatArray:
        return cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float64), (0, 0), 1.0)

    shifts: dict[tuple[int, int], list[FloatArray]] = {}
    for lens_image, _, fine in views(out, name):
        undistorted_grey, pinhole_grey = (
            grey(lens_image.undistorted()),
            grey(cv2.resize(fine.pixels(), (480, 270), interpolation=cv2.INTER_AREA)),
        )
        for y in range(0, 256 - 64, 64):
            for x in range(0, 480 - 96, 96):
                tiles = [image[y : y + 64, x : x + 96] for image in (undistorted_grey, pinhole_grey)]
                if min(tile.std() for tile in tiles) > 20:
                    shifts.setdefault((y, x), []).append(shift_px(*tiles))
    means = [float(np.hypot(*np.mean(found, axis=0))) for found in shifts.values() if len(found) >= MANY]
    assert len(means) > 6
    assert max(means) < MOST_PX
    assert np.median(means) < 0.02


@pytest.mark.parametrize("name", list(MODELS))
def test_boxes_hold_their_masks(name: str, out: Path) -> None:
    """Visible boxes bound the mask's pixels, and amodal boxes contain them, with edges distorted by OpenCV."""
    matrix, k = calibration(out, name)
    counted = 0
    for sample in uavsim.open(out).scene("scene_0000").samples:
        boxes = sample.boxes
        shots = {image.token: image for image in sample.images if image.camera == name}
        for row, views_of_box in enumerate(boxes.views):
            for view in views_of_box:
                if (image := shots.get(view["sample_data_token"])) is None or not view["visible_px"]:
                    continue
                v, u = np.nonzero(image.mask()[0] == boxes.instance_id[row])
                assert view["visible_px"] == len(u)
                assert view["visible_box"] == [u.min(), v.min(), u.max() + 1, v.max() + 1]
                optical = image.map_SE3_optical.apply_inverse(boxes.corners_map_m[row])
                if (optical[:, 2] < 1.0).any():
                    continue
                along = np.linspace(0, 1, 65)[:, None, None, None]
                bent = opencv_project((optical * along + optical[:, None] * (1 - along)).reshape(-1, 3), matrix, k)
                outline = np.clip([*bent.min(axis=0), *bent.max(axis=0)], 0, [480, 270, 480, 270])
                if np.hypot(*(optical[:, :2] / optical[:, 2:]).T).max() < image.lens.edge:
                    np.testing.assert_allclose(view["amodal_box"], outline, atol=MOST_PX)
                    assert (np.array(view["visible_box"][:2]) >= outline[:2] - 1).all()
                    assert (np.array(view["visible_box"][2:]) <= outline[2:] + 1).all()
                    counted += 1
    assert counted > 20
