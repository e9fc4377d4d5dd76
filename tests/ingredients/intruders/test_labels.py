"""Labels of intruders against values calculated by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.encounter_factory import (
    ASIDE_M,
    FOCAL_PX,
    FRAMES,
    FRONT,
    INSTANCE,
    SIZE_PX,
    SPEED_MPS,
    START_M,
    make_encounter,
)
from uavsim.annotate import annotate
from uavsim.errors import DatasetError
from uavsim.geometry.lens import Lens
from uavsim.geometry.se3 import SE3
from uavsim.images import codec
from uavsim.ingredients.intruders.labels import ABOVE, BELOW, ON, UNKNOWN, IntruderLabels, horizon_side, intruder_labels
from uavsim.records.recording import Recording
from uavsim.records.sensors import CameraParams


def labels_of(recording: Recording) -> tuple[IntruderLabels, ...]:
    return intruder_labels(recording, recording.plan.ingredients["intruders"])


def test_range_closing_speed_and_cpa_are_the_geometrys(tmp_path: Path) -> None:
    (found,) = labels_of(make_encounter(tmp_path))

    ahead_m = START_M - SPEED_MPS * 0.1 * found.frame
    true_m = np.sqrt(ahead_m**2 + ASIDE_M**2 + 30.0**2)
    assert found.range_m == pytest.approx(true_m, abs=1e-9)
    inner = found.frame < FRAMES - 1
    assert found.closing_mps[inner] == pytest.approx((SPEED_MPS * ahead_m / true_m)[inner], rel=2e-3)
    assert found.cpa_us == (FRAMES - 1) * 100_000  # the scene ends while it still comes nearer
    assert found.cpa_m == pytest.approx(np.sqrt((START_M - SPEED_MPS * 5.9) ** 2 + ASIDE_M**2 + 30.0**2))
    assert found.bearing_deg[0] == pytest.approx([-np.degrees(np.arctan2(12, 420)), 4.084], abs=1e-3)  # to the left


def test_boxes_are_of_the_mask(tmp_path: Path) -> None:
    (found,) = labels_of(make_encounter(tmp_path))

    assert found.instance_id == INSTANCE
    assert found.from_mask[found.frame >= 21].all()  # before, it may lie between the centres of pixels
    last = found.frame.tolist().index(50)  # 120 m ahead, 12 m to the left, 30 m above
    left, top, width, height = found.box_px[last]
    assert (left + width / 2, top + height / 2) == pytest.approx((90.0, 55.0), abs=1.0)
    assert width == pytest.approx(100 * 11 / 120, abs=1.0)
    assert found.visible_px[last] == width * height


@pytest.mark.parametrize(("above_m", "side"), [(30.0, ABOVE), (-25.0, BELOW), (0.0, ON)])
def test_the_side_of_the_horizon_is_that_of_the_pixels_around_it(tmp_path: Path, above_m: float, side: int) -> None:
    (found,) = labels_of(make_encounter(tmp_path, above_m=above_m))
    near = found.frame > 30
    assert (found.horizon[near] == side).all()


def test_without_a_semantic_image_the_masks_tags_report_and_without_sky_nothing_does() -> None:
    mine = np.zeros((20, 20), bool)
    mine[4:6, 4:6] = True
    sky = np.where(mine, 21, 11).astype(np.uint8)
    box = np.array([4.0, 4.0, 2.0, 2.0])
    ids = np.where(mine, 3, 0).astype(np.uint16)
    assert horizon_side(box, mine, None, ids=ids, tags=sky) == ABOVE
    assert horizon_side(box, mine, None, ids=ids, tags=np.zeros_like(sky)) == UNKNOWN


def test_labels_of_a_scene_hold_them_and_traffic_has_no_box_of_them(tmp_path: Path) -> None:
    labels = annotate(make_encounter(tmp_path))
    assert len(labels.ingredients["intruders"]) == 1
    assert not labels.actors


def test_an_intruder_beside_the_camera_is_found_in_the_mask(tmp_path: Path) -> None:
    recording = make_encounter(tmp_path)
    last = recording.frames[-1]
    beside = SE3(last.actors.map_SE3_actor.quat_wxyz, np.array([[2.0, 8.0, 100.0]]))  # 8.3 m long: its tail is behind
    frame = replace(last, actors=replace(last.actors, map_SE3_actor=beside))
    ids = np.zeros((160, 200), np.uint16)
    ids[70:90, 0:33] = INSTANCE
    tags = np.where(ids > 0, 21, 11).astype(np.uint8)
    (tmp_path / last.readings[0].files["instance"]).write_bytes(codec.encode_mask_ids(ids, tags))

    (found,) = labels_of(replace(recording, frames=(*recording.frames[:-1], frame)))
    assert found.frame[-1] == FRAMES - 1
    assert found.box_px[-1].tolist() == [0.0, 70.0, 33.0, 20.0]


def test_an_intruder_partly_outside_a_lens_is_found_in_the_mask(tmp_path: Path) -> None:
    """Its centre and most corners are outside of the lens's view, but its wing tip has pixels."""
    recording = make_encounter(tmp_path)
    last = recording.frames[-1]
    lens = Lens("brown_conrady", (-0.25, 0.06, 0.001, -0.0005, 0.0), (FOCAL_PX, FOCAL_PX), (100.0, 80.0), SIZE_PX)
    spec = replace(FRONT, params=CameraParams(*SIZE_PX, 90.0, lens))
    at_m = lens.rays(np.array([-1.0, 2.0])) * 40.0
    beside = SE3(last.actors.map_SE3_actor.quat_wxyz, np.array([[40.0, -at_m[0], 100.0 - at_m[1]]]))
    ids = np.zeros((160, 200), np.uint16)
    ids[0:4, 0:5] = INSTANCE
    (tmp_path / last.readings[0].files["instance"]).write_bytes(codec.encode_mask_ids(ids, np.uint8(21) * (ids > 0)))
    reading = replace(last.readings[0], sensor=replace(last.readings[0].sensor, spec=spec))
    frame = replace(last, readings=(reading,), actors=replace(last.actors, map_SE3_actor=beside))

    shots = [replace(f, readings=(replace(f.readings[0], sensor=reading.sensor),)) for f in recording.frames[:-1]]
    (found,) = labels_of(replace(recording, frames=(*shots, frame)))
    assert found.frame[-1] == FRAMES - 1
    assert found.box_px[-1].tolist() == [0.0, 0.0, 5.0, 4.0]
    assert np.isfinite(found.aot_px).all()


def test_an_intruder_that_was_not_recorded_is_refused(tmp_path: Path) -> None:
    recording = replace(make_encounter(tmp_path), actors=())
    with pytest.raises(DatasetError, match="1 intruders are planned, but 0 are recorded"):
        labels_of(recording)
