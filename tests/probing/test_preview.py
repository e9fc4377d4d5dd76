import json
from pathlib import Path

import numpy as np
import pytest

from tests.dataset_factory import make_dataset
from tests.run.conftest import paper_job
from uavsim.access import Scene, open_folder
from uavsim.access.boxes import mask_ids
from uavsim.cli.preview import preview
from uavsim.errors import InputError
from uavsim.images import codec, overlay
from uavsim.probing.preview import draw_swarm_map
from uavsim.run.request import Request

SIZE_PX = (900, 500)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    data = open_folder(make_dataset(tmp_path_factory.mktemp("made"), samples=2, drones=2, size_px=(96, 54)))
    return data.scene(data.scene_names[0])


def pixels_of(scene: Scene, points_map_m: np.ndarray, *, ground_z_m: float) -> np.ndarray:
    """Return (N, 2) pixels of (N, 3) map points, metres: the ground in view within 100 m, with a border of 10 m, centred."""
    corners = []
    for image in scene.samples[0].images:
        w, h = image.size_px
        pixels = np.array([[0, 0, 1], [w, 0, 1], [w, h, 1], [0, h, 1]], float)
        ways = (image.map_SE3_optical.rotation @ np.linalg.inv(image.intrinsic) @ pixels.T).T
        centre = image.map_SE3_optical.translation_m
        for way in ways:
            along = (ground_z_m - centre[2]) / way[2] if way[2] < -1e-9 else np.inf
            corners.append(centre[:2] + way[:2] * min(along, 100.0 / np.hypot(*way[:2])))
    low, high = np.min(corners, axis=0) - 10.0, np.max(corners, axis=0) + 10.0
    scale = min(SIZE_PX[0] / (high[0] - low[0]), SIZE_PX[1] / (high[1] - low[1]))
    return (points_map_m[:, :2] - (low + high) / 2) * scale * [1, -1] + np.array(SIZE_PX) / 2


def test_visible_boxes_are_drawn_at_their_map_position_in_their_mask_colour(scene: Scene) -> None:
    page = draw_swarm_map(scene, None, ground_z_m=0.0, size_px=SIZE_PX)
    assert page.shape == (SIZE_PX[1], SIZE_PX[0], 3)
    boxes = scene.samples[0].boxes
    boxes = boxes.pick(boxes.visible)
    assert len(boxes) > 0
    colours = np.array(overlay.object_colours(mask_ids(boxes)))
    x, y = np.rint(pixels_of(scene, boxes.map_SE3_box.translation_m, ground_z_m=0.0)).astype(int).T
    drones = pixels_of(scene, np.stack([p[0].translation_m for p in scene.map_SE3_drones().values()]), ground_z_m=0.0)
    free = np.linalg.norm(np.stack([x, y], 1)[:, None] - drones, axis=-1).min(axis=1) > 40
    np.testing.assert_array_equal(page[y, x][free], colours[free])
    assert free.any()


def test_drones_are_drawn_at_their_map_position(scene: Scene) -> None:
    page = draw_swarm_map(scene, None, ground_z_m=0.0, size_px=SIZE_PX)
    places = np.stack([poses[0].translation_m for poses in scene.map_SE3_drones().values()])
    x, y = np.rint(pixels_of(scene, places, ground_z_m=0.0)).astype(int).T
    assert (page[y, x] == (40, 44, 52)).all()


def test_preview_flies_one_sample_and_leaves_no_other_files(paper, tmp_path, monkeypatch, capsys) -> None:
    requests: list[Request] = []

    def small_job(request: Request, **_: object):
        requests.append(request)
        return paper_job(request.model_copy(update={"scenes": "1"}))

    monkeypatch.setattr("uavsim.run.context.resolve", small_job)
    monkeypatch.setattr("uavsim.probing.preview.resolve", lambda request, _: paper_job(request))
    ready = paper()
    (tmp_path / "run.yaml").write_text(json.dumps(ready.run.model_dump(mode="json")))
    monkeypatch.chdir(tmp_path)
    preview(dataset="tiny", run=str(tmp_path / "run.yaml"), png=Path("p.png"), as_json=True)
    assert (requests[0].samples, requests[0].settle, requests[0].scenes) == (1, False, "0")
    printed = json.loads(capsys.readouterr().out)
    assert printed["scene"] == "scene_00"
    assert codec.decode_rgb(Path("p.png").read_bytes()).shape[0] > 1000
    assert {path.name for path in tmp_path.iterdir()} <= {"p.png", "run.yaml", "faults.json", "log"}


@pytest.mark.parametrize("png_path", ["/proc/p.png", "/dev/null/p.png", "folder.png"])
def test_unwritable_image_path_is_refused_before_the_flight(png_path: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(InputError, match=f"--png {png_path}: "):
        preview(dataset="smoke", png=Path(png_path))


def test_another_kind_of_image_is_refused() -> None:
    with pytest.raises(InputError, match=r"a name that ends with \.png"):
        preview(dataset="smoke", png=Path("p.jpg"))
