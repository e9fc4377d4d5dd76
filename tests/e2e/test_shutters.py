"""Shutter images from YAML to pixels: masks, depths and projected points belong to the same ticks."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import uavsim
from tests.e2e.flights import Flights
from tests.validate.shutter_defects import PLANTED_SHUTTERS
from uavsim.dataset.convert import convert
from uavsim.errors import DatasetError
from uavsim.images.light import light_of
from uavsim.typing import FloatArray
from uavsim.validate.validator import validate_version

pytestmark = pytest.mark.release

ENOUGH_PX = 30


@pytest.fixture(scope="module")
def out(flights: Flights) -> Path:
    return flights.shutters()


def images(out: Path, camera: str) -> Iterator[tuple[uavsim.Image, uavsim.Boxes]]:
    for sample in uavsim.open(out).scene("scene_0000").samples:
        yield next(image for image in sample.images if image.camera == camera), sample.boxes


def findings(out: Path) -> list[str]:
    return [f.code for f in validate_version(out, "v1.0-mini", workers=1).findings if not f.code.startswith("motion")]


def test_the_validator_finds_nothing(out: Path) -> None:
    assert findings(out) == []


def middle(ids: np.ndarray, instance: int) -> FloatArray | None:
    """Return the (2,) centre of an object's pixels; None if it is truncated or small."""
    v, u = np.nonzero(ids == instance)
    height, width = ids.shape
    is_complete = len(v) >= ENOUGH_PX and u.min() > 0 and v.min() > 0 and u.max() < width - 1 and v.max() < height - 1
    return np.array([u.mean(), v.mean()]) if is_complete else None


@pytest.mark.parametrize("camera", ["ROLLING", "BENT"])
def test_objects_have_moved_as_the_projection_says(camera: str, out: Path) -> None:
    """From the single-tick image to the shutter image, mask centres move like projected box centres."""
    errors_px, moved = [], []
    for image, boxes in images(out, camera):
        plain, rolled = image.mask()[0], image.shutter.mask()[0]
        centre, velocity = boxes.map_SE3_box.translation_m, boxes.velocity_map_mps
        predicted = image.shutter.project(centre, velocity_map_mps=velocity) - image.project(centre)
        for row, instance in enumerate(boxes.instance_id.tolist()):
            before, after = middle(plain, instance), middle(rolled, instance)
            if before is not None and after is not None:
                errors_px.append(float(np.hypot(*(after - before - predicted[row]))))
                moved.append(float(np.hypot(*predicted[row])))
    assert len(errors_px) >= 3
    assert max(moved) > 0.8
    assert max(errors_px) < 1.0  # the grids of two masks, half a pixel each
    assert np.mean(errors_px) < 0.4 * np.mean(moved)


@pytest.mark.parametrize("camera", ["ROLLING", "BLURRED", "BENT"])
def test_tables_count_what_the_shutter_shows(camera: str, out: Path) -> None:
    """Rows include boxes that enter the image after its timestamp."""
    changed = 0
    for image, boxes in images(out, camera):
        ids = image.shutter.mask()[0]
        stated = {
            int(boxes.instance_id[row]): view
            for row, views in enumerate(boxes.views)
            for view in views
            if view["sample_data_token"] == image.token and view["shutter_px"]
        }
        assert set(stated) == set(np.intersect1d(ids, boxes.instance_id).tolist())
        for instance, view in stated.items():
            v, u = np.nonzero(ids == instance)
            assert view["shutter_px"] == len(u)
            assert view["shutter_box"] == [u.min(), v.min(), u.max() + 1, v.max() + 1]
            changed += view["shutter_px"] != view["visible_px"]
    assert changed


def test_rows_are_those_of_the_ticks_depth(out: Path) -> None:
    """Points by depth and the row's pose lie on or above the ground, as in the single-tick image."""
    for image, _ in images(out, "ROLLING"):
        through = image.shutter
        shutter, depth_m = through.ticks.shutter, through.depth_m()
        ticks = shutter.middle_ticks(180)
        near = np.isfinite(depth_m) & (depth_m < 200)
        v, u = np.nonzero(near)
        rays = image.rays(np.stack([u, v], axis=1).astype(np.float64) + 0.5) * depth_m[near].astype(float)[:, None]
        map_m = np.concatenate([through.ticks.map_SE3_optical[t].apply(rays[ticks[v] == t]) for t in range(16)])
        order = np.argsort(ticks[v], kind="stable")
        back = through.project(map_m)
        errors_px = np.hypot(*(back - np.stack([u, v], axis=1)[order] - 0.5).T)
        assert np.percentile(errors_px, 95) < 0.01  # except for skipped or repeated rows, the inverse is exact
        np.testing.assert_allclose(
            np.percentile(map_m[:, 2], 5), np.percentile(image.points_map_m()[0][:, 2], 5), atol=0.1
        )


def test_the_other_dialect_keeps_shutters(out: Path, tmp_path: Path) -> None:
    convert(out, tmp_path / "uav3d", dialect="uav3d")
    assert [code for code in findings(tmp_path / "uav3d") if code.startswith(("shutter", "files", "schema"))] == []


def test_blur_keeps_the_light_and_takes_the_edges(out: Path) -> None:
    for image, _ in images(out, "BLURRED"):
        sharp, soft = image.pixels().astype(float), image.shutter.pixels().astype(float)
        lights = [float(light_of(rgb).mean()) for rgb in (image.pixels(), image.shutter.pixels())]
        assert lights[1] == pytest.approx(lights[0], rel=0.02)
        assert np.abs(np.diff(soft, axis=0)).mean() < 0.97 * np.abs(np.diff(sharp, axis=0)).mean()


def test_a_camera_without_a_shutter_has_none(out: Path) -> None:
    image, boxes = next(images(out, "PLAIN"))
    image_views = [view for views in boxes.views for view in views if view["sample_data_token"] == image.token]
    assert image_views
    assert not any("shutter_px" in view for view in image_views)
    with pytest.raises(DatasetError, match="its camera has no shutter"):
        _ = image.shutter


@pytest.mark.parametrize("name", PLANTED_SHUTTERS)
def test_the_validator_finds(name: str, out: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    shutil.copytree(out, bad)
    plant, code = PLANTED_SHUTTERS[name]
    plant(bad, bad / "v1.0-mini")
    assert set(findings(bad)) == {code}
