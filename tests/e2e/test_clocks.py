"""Drones, a car and a pole with their own clocks, from YAML to labels: ground truth has the image's time."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

import uavsim
from tests.e2e.flights import Flights
from tests.validate.clock_defects import PLANTED_CLOCKS
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.opv2v import export_opv2v
from uavsim.exports.formats.v2xsim import export_v2xsim
from uavsim.validate.validator import validate_version

ENOUGH_PX = 60
FOLDERS = {"v0": "1000", "r0": "-1"}


@pytest.fixture(scope="module")
def out(flights: Flights) -> Path:
    return flights.clocks()


def findings(out: Path) -> list[str]:
    return [f.code for f in validate_version(out, "v1.0-mini", workers=1).findings]


def test_the_validator_finds_nothing(out: Path) -> None:
    assert findings(out) == []


def off_middle(image: uavsim.Image, boxes: uavsim.Boxes) -> list[float]:
    """Return distances between mask centres and projected box centres of whole objects, pixels."""
    ids, offsets_px = image.mask()[0], []
    height, width = ids.shape
    for row, instance in enumerate(boxes.instance_id.tolist()):
        v, u = np.nonzero(ids == instance)
        if len(v) >= ENOUGH_PX and u.min() > 0 and v.min() > 0 and u.max() < width - 1 and v.max() < height - 1:
            middle = image.project(boxes.map_SE3_box.translation_m[row])
            offsets_px.append(float(np.hypot(*(np.array([u.mean(), v.mean()]) + 0.5 - middle))))
    return offsets_px


def test_boxes_are_where_objects_are_at_the_images_own_time(out: Path) -> None:
    """With ``boxes_at`` at the image's time, object centres are in their masks; half a keyframe later they are not."""
    scene = uavsim.open(out).scene("scene_0000")
    keyframe = scene.samples[1].timestamp_us
    at_image_px, at_keyframe_px = [], []
    for image in (image for drone in range(5) for image in scene.images_of(f"CAMERA_FRONT_id_{drone}")):
        if image.timestamp_us < keyframe:
            at_image_px += off_middle(image, scene.boxes_at(image.timestamp_us))
            at_keyframe_px += off_middle(image, scene.boxes_at(keyframe))
    assert len(at_image_px) >= 5
    assert np.median(at_image_px) < 2.0
    assert np.max(at_keyframe_px) > 1.5 * np.max(at_image_px), "nothing moves here: the test shows nothing"


@pytest.mark.parametrize("agent", ["0", "v0", "r0"])
def test_an_agent_knows_what_arrived(out: Path, agent: str) -> None:
    scene = uavsim.open(out).scene("scene_0000")
    time_us = scene.samples[1].timestamp_us
    known = scene.known_at(time_us, agent)
    assert set(known) == {"0", "1", "2", "3", "4", "v0", "r0"}
    for name, agent_state in known.items():
        assert agent_state.arrival_us <= time_us
        assert len(agent_state.images) == 2
        assert {image.timestamp_us for image in agent_state.images} == {agent_state.timestamp_us}
        assert agent_state.arrival_us - agent_state.timestamp_us >= (0 if name == agent else 20_000)
        assert agent_state.agent_timestamp_us != agent_state.timestamp_us


def test_an_export_as_received_has_others_images_as_old_as_they_are(out: Path, tmp_path: Path) -> None:
    export_opv2v(ExportRequest(out, tmp_path, received=True))
    scene = uavsim.open(out).scene("scene_0000")
    frames = sorted(path.stem for path in (tmp_path / "all/scene_0000/0").glob("*.yaml"))
    assert frames == [f"{sample.number:06d}" for sample in scene.samples[1:]], "no message has arrived at the start"
    sample = scene.samples[1]
    for name, known in scene.known_at(sample.timestamp_us, 0).items():
        content = yaml.safe_load((tmp_path / f"all/scene_0000/{FOLDERS.get(name, name)}/000001.yaml").read_text())
        image = known.images[0] if name != "0" else sample.images[0]
        x_m, y_m, _ = image.map_SE3_flu.translation_m
        assert content["lidar_pose"][:2] == pytest.approx([x_m, -y_m], abs=1e-6)
        assert len(content["vehicles"]) == len(sample.boxes) - (name == "v0"), "a car has no box of itself"


def test_v2xsims_tables_as_received_have_what_the_car_has(out: Path, tmp_path: Path) -> None:
    (folder,) = export_v2xsim(ExportRequest(out, tmp_path, received=True))
    scene, received = (uavsim.open(root).scene("scene_0000") for root in (out, folder))
    first, sample = received.samples
    assert {image.channel.rpartition("_id_")[2] for image in first.images} == {"1"}, (
        "no message has arrived at the start"
    )
    known = scene.known_at(sample.timestamp_us, "v0")
    by_inode = {(out / image.filename).stat().st_ino: image for agent in known.values() for image in agent.images}
    others = [image for image in sample.images if not image.channel.endswith("_id_1")]
    assert len(others) == 2 * 6
    for image in others:
        older = by_inode[(folder / image.filename).stat().st_ino]
        assert image.timestamp_us == older.timestamp_us < sample.timestamp_us
        np.testing.assert_allclose(image.map_SE3_flu.matrix, older.map_SE3_flu.matrix, atol=1e-12)
    assert {image.timestamp_us for image in sample.images} - {image.timestamp_us for image in others} == {
        sample.timestamp_us
    }


@pytest.mark.parametrize("name", PLANTED_CLOCKS)
def test_the_validator_finds(name: str, out: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    shutil.copytree(out, bad)
    plant, code = PLANTED_CLOCKS[name]
    plant(bad, bad / "v1.0-mini")
    assert set(findings(bad)) == {code}
