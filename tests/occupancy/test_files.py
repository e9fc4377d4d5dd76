"""Files of voxels, read like their users' readers."""

import dataclasses
import io
import json
import multiprocessing
import pickle
import shutil
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import uavsim
from uavsim.access import Dataset
from uavsim.errors import DatasetError, InputError
from uavsim.occupancy import npz
from uavsim.occupancy.classes import FREE, UNKNOWN
from uavsim.occupancy.files import FORMATS, read_voxels, voxels_of
from uavsim.occupancy.further import check_settings, label_folder
from uavsim.occupancy.grids import GRIDS, grid_of_values
from uavsim.occupancy.npz import ArrayKind, npz_bytes, read_npz
from uavsim.occupancy.run import Labeller, grids_of, write_voxels
from uavsim.typing import JsonDict
from uavsim.viewing.view import ViewRequest, write_recording


@pytest.fixture
def write(street_set: Dataset, scan_folder: Path):
    def written(out: Path, name: str, **choices) -> list[str]:
        grid, options = GRIDS[FORMATS[name].grid], {"scan_folder": scan_folder, **choices}
        return [file for file, _ in write_voxels(street_set, out, FORMATS[name], grid, **options)]

    return written


def test_parquet_file_holds_classes_instances_visibility_and_motion(
    write, street_set: Dataset, labeller: Labeller, tmp_path: Path
) -> None:
    names = write(tmp_path, "parquet")
    scene = street_set.scene("scene_00")
    assert names == [f"scene_00/swarm/{sample.token}.parquet" for sample in scene]
    read, about = read_voxels(tmp_path / names[0])
    label = labeller.label(scene, 0, "swarm").voxels
    np.testing.assert_array_equal(read["semantics"], label.semantics)
    np.testing.assert_array_equal(read["instance"], label.instance)
    for bit, agent in enumerate(about["seers"]):
        np.testing.assert_array_equal(read["seen"] >> bit & 1 != 0, label.seen_by(agent))
    assert about["seers"] == ["0", "1", "2", "3", "4"]
    moved = np.array(about["objects"][int(label.instance.max()) - 1]["forward"])
    assert moved.shape == (4, 4)


def _about(size: list[int]) -> JsonDict:
    grid = {"voxel_m": 1.0, "low_m": [0, 0, 0], "map_quat_wxyz_grid": [1, 0, 0, 0], "map_from_grid_m": [0, 0, 0]}
    return {"types": {"semantics": "|u1"}, "grid": {"size": size, **grid}, "seers": []}


def test_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and more")
    with pytest.raises(DatasetError, match=r"x\.parquet: not a voxel file"):
        read_voxels(tmp_path / "x.parquet")


def test_small_file_of_a_huge_grid_is_refused_before_allocation(tmp_path: Path) -> None:
    about, path = _about([4, 4, 4]), tmp_path / "x.parquet"
    for size, layers, said in (
        ([9999] * 3, [b"1"], "the limit is 10,000,000 voxels"),
        ([4, 4, 4], [b"1" * 16], "1 layers for"),
        ([4, 4, 4], [b"1" * (1 << 22)] * 4, "unpacked bytes for arrays"),
        ([1000, 100, 10], [b"1" * 100_000] * 1000, "semantics has a layer without 1,000 bytes"),
        ([2, 2, 2], [b"\x20" * 4] * 2, "a voxel has class 32; classes are 0 to 17"),
    ):
        about["grid"]["size"] = size
        table = pa.table({"semantics": layers}).replace_schema_metadata({"uavsim": json.dumps(about)})
        pq.write_table(table, path, compression="zstd")
        assert path.stat().st_size < 10_000
        with pytest.raises(DatasetError, match=said):
            read_voxels(path)


def _read_each(path: Path, good: bytes) -> None:
    for at in range(len(good)):
        path.write_bytes(good[:at] + b"\0" + good[at + 1 :])
        with suppress(DatasetError):
            read_voxels(path)


def test_damaged_bytes_do_not_crash_the_process(tmp_path: Path) -> None:
    """Pyarrow's checks of a row group's columns would end the process."""
    about = json.dumps(_about([2, 2, 2]))
    table = pa.table({"semantics": [b"1" * 4] * 2}).replace_schema_metadata({"uavsim": about})
    data = io.BytesIO()
    pq.write_table(table, data, use_dictionary=False, write_statistics=False)
    reader = multiprocessing.get_context("spawn").Process(target=_read_each, args=(tmp_path / "x", data.getvalue()))
    reader.start()
    reader.join()
    assert reader.exitcode == 0


def test_small_npz_of_a_huge_array_is_refused_before_allocation(tmp_path: Path) -> None:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "|u1", "fortran_order": False, "shape": (1 << 40,)})
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("semantics.npy", head.getvalue() + b"0123")
    with pytest.raises(DatasetError, match="larger than"):
        read_npz(tmp_path / "x.npz", {"semantics": ArrayKind("u", (None,))})
    with pytest.raises(DatasetError, match="cannot read the arrays other"):
        read_npz(tmp_path / "x.npz", {"other": ArrayKind("u", (None,))})


def test_error_without_text_is_named_by_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.npz").write_bytes(npz_bytes({"semantics": np.zeros(3, np.uint8)}))

    def fails(*_: object) -> None:
        raise EOFError

    monkeypatch.setattr(npz, "_array", fails)
    with pytest.raises(DatasetError, match="the arrays semantics: EOFError"):
        read_npz(tmp_path / "x.npz", {"semantics": ArrayKind("u", (None,))})


@pytest.mark.release
@pytest.mark.parametrize("kind", ["truth", "truth, of 8 bytes", "scan"])
def test_compressed_zeros_are_refused_in_little_memory(tmp_path: Path, kind: str) -> None:
    """510 kB of zeros were 8.4 GB."""
    count, size = (1 << 29, "u1") if kind == "scan" else (10_000_000, "u1" if kind == "truth" else "i8")
    arrays: dict[str, np.ndarray[Any, Any]] = {"semantics": np.zeros((100, 100, count // 10_000), size)}
    if kind == "scan":
        arrays = {"keys": np.zeros(count // 8, "i8"), "hits": np.zeros(count // 8, "u4")}
    (tmp_path / "x.npz").write_bytes(npz_bytes(arrays))
    call = "read_occ3d(path)" if kind != "scan" else "scan_of(path)"
    code = f"""
import re
from pathlib import Path
from uavsim.errors import DatasetError
from uavsim.occupancy.files import read_occ3d
from uavsim.occupancy.town import join_scans

path = Path({str(tmp_path / "x.npz")!r})
scan_of = lambda path: join_scans([path])
try:
    {call}
except DatasetError as error:
    assert "larger than" in str(error)
print(int(re.search("VmHWM:\\\\s*(\\\\d+)", Path("/proc/self/status").read_text())[1]) >> 10)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 600


def test_occ3d_files_hold_classes_and_masks(write, tmp_path: Path) -> None:
    names = write(tmp_path, "occ3d", of=["0"])
    assert names[0].startswith("0/gts/scene_00/")
    with np.load(tmp_path / names[0]) as file:
        semantics, camera, lidar = file["semantics"], file["mask_camera"], file["mask_lidar"]
    assert (semantics.shape, semantics.dtype) == ((200, 200, 16), np.uint8)
    assert semantics.max() == FREE
    assert set(np.unique(camera)) == {0, 1} == set(np.unique(lidar))
    below = semantics[:, :, 0]  # 1 m below the ground
    assert (below == FREE).all()
    assert not camera[:, :, 0].any()


def test_uniocc_flow_leads_to_the_next_sample(write, tmp_path: Path) -> None:
    names = write(tmp_path, "uniocc", of=["1"])
    infos = pickle.loads((tmp_path / "scene_infos.pkl").read_bytes())
    assert infos == [{"scene_name": "scene_00_1", "occ_in_scene_paths": names[:2]}]
    frames = [np.load(tmp_path / name, allow_pickle=True) for name in names[:2]]
    first, second = frames
    flow, label = first["occ_flow_forward"], first["occ_label"]
    occupied = np.argwhere(label != 10)
    next_voxels = np.floor(occupied + 0.5 + flow[label != 10]).astype(int)
    inside = ((next_voxels >= 0) & (next_voxels < label.shape)).all(axis=1)
    met = second["occ_label"][tuple(next_voxels[inside].T)] != 10
    assert met.mean() > 0.9  # a voxel's middle may leave a surface that is one voxel thick
    assert not second["occ_flow_forward"].any()
    assert not first["occ_flow_backward"].any()
    for one in first["annotations"]:
        world = first["ego_to_world_transformation"] @ one["agent_to_ego"]
        np.testing.assert_allclose(world, one["agent_to_world"], atol=1e-9)


def test_occufly_masks_match_the_classes(street_set: Dataset, labeller: Labeller) -> None:
    occufly_labeller = dataclasses.replace(labeller, shape=GRIDS["occufly"])
    label = occufly_labeller.label(street_set.scene("scene_00"), 1, "CAMERA_BOTTOM_id_0")
    files = FORMATS["occufly"].files(label)
    root = "OccuFly_Dataset/scene_00_CAMERA_BOTTOM_id_0/25"  # metres above the plane
    semantics = np.frombuffer(files[f"{root}/ground_truth/000001/000001.label"], np.uint8).reshape(192, 128, 128)
    bits = {
        name: np.unpackbits(np.frombuffer(files[f"{root}/ground_truth/000001/000001.{name}"], np.uint8)).reshape(
            semantics.shape
        )
        for name in ("invalid", "occluded", "surface")
    }
    matter = (semantics > 0) & (semantics < 255)
    assert bits["invalid"][semantics == 255].all()
    assert not (bits["invalid"] & bits["occluded"]).any()
    assert not bits["surface"][~matter].any()
    assert bits["surface"][matter].mean() > 0.9  # what cameras see is thin
    assert semantics[96, 64, 50] in {1, 2, 3, 6, 13}  # 25 m ahead, straight below the camera
    image = next(i for i in label.sample.images if i.channel == "CAMERA_BOTTOM_id_0")
    assert files[f"{root}/images/visual/000001.png"] == image.bytes()


@pytest.mark.release
def test_viewer_shows_occupied_voxels(write, street_set: Dataset, tmp_path: Path) -> None:
    (name, *_) = write(tmp_path, "parquet", of=["1"], scan_folder=tmp_path / "kept")
    assert list((tmp_path / "kept").iterdir())
    arrays, about = read_voxels(tmp_path / name)
    first, second = street_set.scene("scene_00").samples
    (found,) = voxels_of(tmp_path, first)
    occupied = np.argwhere(arrays["semantics"] < FREE)
    assert (found.grid, len(found.classes)) == (name.split("/")[1], len(occupied))
    np.testing.assert_allclose(
        found.centres_map_m[0], np.array(about["grid"]["map_from_grid_m"]) + (occupied[0] + 0.5) * 0.8
    )
    recording = tmp_path / "voxels.rrd"
    write_recording(street_set, recording, ViewRequest(most_samples=1, image_width_px=16, voxels=tmp_path))
    assert b"/world/voxels/" in recording.read_bytes()
    assert voxels_of(tmp_path / "kept", second) == []


@pytest.mark.release
def test_labels_of_unchanged_tables_are_kept(street_set: Dataset, tmp_path: Path) -> None:
    copy = tmp_path / "set"
    shutil.copytree(street_set.root, copy)
    settings = {"format": "occ3d", "grid": None, "of": ("0",), "cameras": False}
    label_folder(copy, settings)
    first, second = sorted(copy.glob("occupancy/0/gts/scene_00/*/labels.npz"))
    second.unlink()
    label_folder(copy, settings)  # of the same tables: nothing is made again
    assert not second.exists()
    table = copy / "v1.0-mini/sample.json"
    table.write_text(table.read_text() + "\n")
    label_folder(copy, settings)
    assert first.exists()
    assert second.exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"format": "oc3d"}, "unknown format 'oc3d'; did you mean 'occ3d'"),
        ({"grid": "swram"}, "did you mean 'swarm'"),
        ({"of": ("9",)}, "unknown agent '9'; known: 0, v1"),
        ({"format": "occ3d", "cameras": True}, "needs --format parquet"),
        ({"format": "occufly", "grid": "swarm"}, "OccuFly needs a grid"),
        ({"format": "surroundocc", "lidars": ()}, "the dataset has no lidar"),
    ],
)
def test_invalid_occupancy_labels_are_refused(wrong: JsonDict, said: str) -> None:
    settings: JsonDict = {"format": "occ3d", "grid": None, "of": (), "cameras": False, "lidars": ("LIDAR_TOP",)} | wrong
    with pytest.raises(InputError, match=said):
        check_settings(settings, ("CAM_FRONT_id_0", "CAM_BACK_id_v1"), settings["lidars"])


def test_agent_owns_a_grid_for_each_camera() -> None:
    cameras, lidars = ("CAM_FRONT_id_0", "CAM_BACK_id_0", "CAM_FRONT_id_v1"), ("LIDAR_TOP", "LIDAR_TOP_id_v1")
    assert grids_of(GRIDS["occufly"], cameras=cameras, lidars=lidars, of=("0",)) == list(cameras[:2])
    assert grids_of(GRIDS["surroundocc"], cameras=cameras, lidars=lidars, of=("v1",)) == ["LIDAR_TOP_id_v1"]
    assert grids_of(GRIDS["occ3d"], cameras=cameras, lidars=lidars) == ["0", "v1"]
    assert grids_of(GRIDS["swarm"], cameras=cameras, lidars=lidars, of=("v1", "v1")) == ["v1"]


def test_token_with_a_path_is_refused(street_set: Dataset, tmp_path: Path) -> None:
    copy = tmp_path / "a" / "set"
    shutil.copytree(street_set.root, copy)
    token = street_set.scene("scene_00").samples[0].token
    for table in (copy / "v1.0-mini").glob("*.json"):
        table.write_text(table.read_text().replace(token, "../../../evil"))
    with pytest.raises(DatasetError, match="cannot be part of a file name"):
        list(write_voxels(uavsim.open(copy), copy / "out", FORMATS["occ3d"], GRIDS["occ3d"], of=["0"]))
    assert not list(tmp_path.rglob("*evil*"))


def test_surroundocc_rows_hold_voxels_and_classes(write, tmp_path: Path) -> None:
    names = write(tmp_path, "surroundocc")
    rows = np.load(tmp_path / names[0])
    assert rows.shape[1] == 4
    assert len(rows) > 100
    assert (rows[:, :3].max(axis=0) < [200, 200, 16]).all()
    assert 0 not in rows[:, 3]


def test_custom_grid_is_validated() -> None:
    values = {"frame": "agent", "size": [8, 8, 4], "voxel_m": 0.5, "low_m": [-2, -2, -1]}
    assert grid_of_values(values, name="g.yaml").size == (8, 8, 4)
    for wrong, said in (
        ({"voxel_m": 0}, "invalid grid: size"), ({"size": [8, 8]}, "three numbers"),
        ({"frame": "car"}, "unknown grid frame 'car'"),
        ({"size": [4000, 4000, 400]}, "more than"), ({"colour": 1}, "needs the keys"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=said):
            grid_of_values({**values, **wrong}, name="g.yaml")


def test_occ3d_file_of_unknown_voxels_is_written(street_set: Dataset, labeller: Labeller) -> None:
    label = labeller.label(street_set.scene("scene_00"), 0, "swarm")
    assert UNKNOWN in label.voxels.semantics
    (content,) = FORMATS["occ3d"].files(label).values()
    assert content[:2] == b"PK"
