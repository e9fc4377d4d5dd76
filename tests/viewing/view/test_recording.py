from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import rerun as rr
from rerun.chunk import RrdReader

import uavsim
from uavsim.access import TownMap
from uavsim.errors import InputError, UnknownNameError
from uavsim.viewing.view import ViewRequest, open_viewer, write_recording
from uavsim.viewing.view.town import log_town
from uavsim.viewing.view.viewer import viewer_command


def read_back(path: Path) -> dict[str, list]:
    """Return the chunks of a recording by entity."""
    found: dict[str, list] = {}
    for chunk in RrdReader(path).stream():
        found.setdefault(str(chunk.entity_path), []).append(chunk)
    return found


def column(chunks: list, name: str) -> list:
    """Return the rows of one component."""
    batches = [chunk.to_record_batch() for chunk in chunks]
    return [row for b in batches for n in b.schema.names if n == name for row in b.column(n).to_pylist() if row]


@pytest.fixture(scope="module")
def recording(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "small.rrd"
    summary = write_recording(uavsim.open(strict), path, ViewRequest(image_width_px=80))
    assert (summary.scenes, summary.samples, summary.images, summary.notes) == (2, 4, 40, ())
    return path


def test_recording_holds_cameras_images_masks_and_boxes(strict: Path, recording: Path) -> None:
    chunks = read_back(recording)
    camera = "/world/drones/1/CAMERA_LEFT_id_1"
    images = column(chunks[camera], "EncodedImage:blob")
    assert len(images) == 4
    assert all(bytes(blob[0])[:2] == b"\xff\xd8" for blob in images)
    assert len(column(chunks[f"{camera}/mask"], "EncodedImage:blob")) == 4
    pinhole = column(chunks[camera], "Pinhole:image_from_camera")[0][0]
    image = next(i for i in uavsim.open(strict).scene("scene_00").samples[0].images if i.channel == "CAMERA_LEFT_id_1")
    np.testing.assert_allclose(np.reshape(pinhole, (3, 3)).T, np.diag([0.5, 0.5, 1]) @ image.intrinsic, atol=1e-5)
    assert column(chunks[f"{camera}/boxes"], "LineStrips2D:strips")


def test_recording_holds_boxes_tracks_drones_lidars_and_town(strict: Path, recording: Path) -> None:
    chunks, data = read_back(recording), uavsim.open(strict)
    centres = column(chunks["/world/boxes"], "Boxes3D:centers")
    assert [len(row) for row in centres] == [len(sample.boxes) for sample in data.samples()]
    np.testing.assert_allclose(centres[0], data.scene("scene_00").samples[0].boxes.map_SE3_box.translation_m, atol=1e-3)
    labels = column(chunks["/world/boxes"], "Boxes3D:labels")
    assert any(label.startswith("vehicle.car ") for label in labels[0])
    ways = column(chunks["/world/drones/0"], "Transform3D:translation")
    assert len(ways) == 4
    for entity in (
        "/world/tracks",
        "/world/routes/1",
        "/world/lidars/LIDAR_id_0",
        "/world/town/borders",
        "/about",
        "/world/drones/1/body",
    ):
        assert entity in chunks, entity


def test_depth_points_show_surfaces_without_boxes(strict: Path, recording: Path) -> None:
    chunks, sample = read_back(recording), uavsim.open(strict).scene("scene_00").samples[0]
    points = np.array(column(chunks["/world/depth"], "Points3D:positions")[0])
    image = sample.images[0]
    depth_m = image.depth_m()
    v, u = np.argwhere(depth_m < 100)[0]
    expected = image.map_SE3_optical.apply(
        np.linalg.inv(image.intrinsic) @ np.array([u + 0.5, v + 0.5, 1.0]) * depth_m[v, u]
    )
    assert np.linalg.norm(points - expected, axis=1).min() < 1.0
    assert len(points) == len(column(chunks["/world/depth"], "Points3D:colors")[0])


def test_other_dialects_and_foreign_datasets_are_recorded(uav3d: Path, foreign: Path, tmp_path: Path) -> None:
    summary = write_recording(uavsim.open(uav3d), tmp_path / "uav3d.rrd", ViewRequest(("scene_01",)))
    assert (summary.scenes, summary.images) == (1, 20)
    summary = write_recording(uavsim.open(foreign), tmp_path / "foreign.rrd", ViewRequest(most_samples=3))
    assert summary.samples == 3
    assert any("roads are not shown" in note for note in summary.notes)


def test_unknown_scene_and_missing_display_are_refused(
    strict: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnknownNameError, match="scene_01"):
        write_recording(uavsim.open(strict), tmp_path / "a.rrd", ViewRequest(("scene_11",)))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(InputError, match="--web"), open_viewer(web=False):
        pytest.fail("opened")


def test_web_page_is_bound_to_localhost() -> None:
    command = viewer_command(web=True, port=9876, web_port=9090)
    assert command[command.index("--bind") + 1] == "127.0.0.1"


def test_recording_holds_lines_and_buildings_of_a_vector_map(tmp_path: Path) -> None:
    square = np.array([[0.0, 0.0, 9.0], [0.0, 2.0, 9.0], [2.0, 2.0, 9.0], [2.0, 0.0, 9.0], [0.0, 0.0, 9.0]])
    line = np.array([[0.0, 0.0, 0.5], [5.0, 0.0, 0.5]])
    shapes = {"building": {"h": [square]}, "lane_divider": {"l": [line]}}
    town = SimpleNamespace(
        drivable=lambda: np.array([[True, False], [False, True]]),
        origin_map_m=np.array([-10.0, -20.0]),
        metres_per_px=10.0,
        roads=lambda: SimpleNamespace(
            shapes_map_m=lambda name: shapes.get(name, {}), heights_map_m=lambda _: {"h": (-1.0, 9.0)}
        ),
    )
    with rr.RecordingStream("test") as stream:
        stream.save(tmp_path / "town.rrd")
        assert log_town(stream, cast(TownMap, town), ground_z_m=0.0)
        stream.flush()
    chunks = read_back(tmp_path / "town.rrd")
    (painted,) = column(chunks["/world/town/map/lane_divider"], "LineStrips3D:strips")
    np.testing.assert_allclose(painted, [line])
    (corners,) = column(chunks["/world/town/map/building"], "Mesh3D:vertex_positions")
    (normals,) = column(chunks["/world/town/map/building"], "Mesh3D:vertex_normals")
    triangles, facing = np.reshape(corners, (-1, 3, 3)), np.reshape(normals, (-1, 3, 3))[:, 0]
    a, b, c = triangles.transpose(1, 0, 2)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
    assert area == pytest.approx(2 * 2 + 4 * 2 * 10)  # roof and four walls
    assert (np.sum((triangles.mean(axis=1) - (1.0, 1.0, 4.0)) * facing, axis=1) > 0.9).all()  # outwards
