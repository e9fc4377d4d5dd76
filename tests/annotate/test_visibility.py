"""Visibility against ground truth: the renderer draws each object once in its scene and once alone."""

import numpy as np
import pytest

from tests.annotate.city import City, make_city
from uavsim.annotate import annotate, reach
from uavsim.annotate.solids import CameraImages, PlacedCamera, Solids, ViewMeasurements
from uavsim.annotate.visibility import measure_view
from uavsim.geometry.se3 import SE3
from uavsim.images import codec
from uavsim.records.labels import SceneLabels


@pytest.fixture(scope="module", params=[False, True], ids=["masks", "masks and depth"])
def city(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> City:
    return make_city(tmp_path_factory.mktemp("city"), seed=1, samples=2, depth=request.param, vehicles=70)


@pytest.fixture(scope="module")
def labels(city: City) -> SceneLabels:
    return annotate(city.recording)


def keys(city: City, labels: SceneLabels) -> list[tuple[int, str, int]]:
    channels, boxes, views = city.recording.plan.channels, labels.boxes, labels.views
    return [
        (int(boxes.sample_index[row]), channels[channel], int(boxes.instance_id[row]))
        for row, channel in zip(views.box_row, views.channel_index, strict=True)
    ]


def test_visible_pixels_equal_the_masks(city: City, labels: SceneLabels) -> None:
    counted = dict(zip(keys(city, labels), labels.views.visible_px.tolist(), strict=True))
    for frame in city.recording.frames:
        for shot in frame.cameras:
            ids, _ = codec.mask_ids_and_tags(city.recording.folder / shot.files["instance"])
            boxed = labels.boxes.instance_id[labels.boxes.sample_index == frame.sample_index]
            found = np.intersect1d(np.unique(ids[ids > 0]), boxed)  # objects out of range have no box
            pixels = {(frame.sample_index, shot.channel, int(i)): int((ids == i).sum()) for i in found}
            assert pixels.items() <= counted.items()
            others = {
                k: n for k, n in counted.items() if k[:2] == (frame.sample_index, shot.channel) and k not in pixels
            }
            assert not any(others.values())


def test_occlusion_is_within_0_05_of_the_truth(city: City, labels: SceneLabels) -> None:
    alone = np.array([city.alone_px.get(key, 0) for key in keys(city, labels)])
    counts = (alone > 100) & (labels.views.visible_px > 0)  # a completely hidden object tests nothing
    truth = 1 - labels.views.visible_px[counts] / alone[counts]
    right = np.abs(labels.views.occlusion[counts] - truth) <= 0.05
    hidden = truth > 0.05
    assert hidden.sum() > 50
    assert (~hidden).sum() > 200
    assert right.mean() >= 0.95
    assert right[hidden].mean() >= 0.85
    assert right[~hidden].mean() >= 0.97


def test_every_visible_object_has_a_row(city: City, labels: SceneLabels) -> None:
    have = set(keys(city, labels))
    boxed = set(zip(labels.boxes.sample_index.tolist(), labels.boxes.instance_id.tolist(), strict=True))
    missing = [n for key, n in city.alone_px.items() if n and key not in have and (key[0], key[2]) in boxed]
    assert sum(missing) <= 3  # single pixels on the very edge


def test_visible_boxes_are_tight(city: City, labels: SceneLabels) -> None:
    frame = city.recording.frames[0]
    tight = dict(zip(keys(city, labels), labels.views.visible_box_px.tolist(), strict=True))
    amodal = dict(zip(keys(city, labels), labels.views.amodal_box_px.tolist(), strict=True))
    for shot in frame.cameras[:5]:
        ids, _ = codec.mask_ids_and_tags(city.recording.folder / shot.files["instance"])
        for i in np.intersect1d(np.unique(ids), labels.boxes.instance_id[labels.boxes.sample_index == 0]).tolist():
            lines, columns = np.nonzero(ids == i)
            box = tight[0, shot.channel, i]
            assert box == [columns.min(), lines.min(), columns.max() + 1, lines.max() + 1]
            whole = amodal[0, shot.channel, i]
            assert whole[0] - 1 <= box[0]
            assert whole[1] - 1 <= box[1]
            assert box[2] <= whole[2] + 1
            assert box[3] <= whole[3] + 1


@pytest.mark.parametrize("seed", range(40))
def test_preselection_drops_only_boxes_without_a_ray(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cameras among boxes of all sizes and distances give the same rows with and without the preselection."""
    rng = np.random.default_rng(seed)
    count = 300
    turns = rng.normal(size=(count, 4))
    poses = SE3(turns / np.linalg.norm(turns, axis=1, keepdims=True), rng.normal(scale=25.0, size=(count, 3)))
    solids = Solids.of(poses, rng.uniform(0.05, 6.0, (count, 3)))
    turn = rng.normal(size=4)
    camera = PlacedCamera(
        SE3(turn / np.linalg.norm(turn), rng.normal(scale=20.0, size=3)),
        np.array([[rng.uniform(20, 90), 0.0, 40.0], [0.0, rng.uniform(20, 90), 22.0], [0.0, 0.0, 1.0]]),
        80,
        45,
    )
    ids = np.zeros((45, 80), np.uint16)
    ids[rng.integers(0, 45, 5), rng.integers(0, 80, 5)] = rng.integers(1, count, 5)  # also of distant boxes
    images = CameraImages(ids, np.full(ids.shape, 3, np.uint8))
    numbers = np.arange(1, count + 1)

    few = measure_view(solids, numbers, camera, images)
    monkeypatch.setattr(reach, "may_reach_in", lambda solids, poses, *_: np.ones((len(poses), len(solids)), np.bool_))
    all_of_them = measure_view(solids, numbers, camera, images)

    assert 0 < len(few.row) < count
    for name in ViewMeasurements.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(few, name), getattr(all_of_them, name), err_msg=name)
