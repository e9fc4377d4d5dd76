"""Hostile file names: by an audit hook, no file outside the dataset is opened, and the validator reports the names."""

import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.dataset_factory import make_dataset, table
from uavsim.dataset.schema import all_tables
from uavsim.files.names import MOST_FILE_BYTES
from uavsim.files.parquet import to_parquet
from uavsim.images import codec, events, flow
from uavsim.store.layout import file_roots
from uavsim.validate.dataset import FILE_TABLES
from uavsim.validate.validator import validate_version

VERSION = "v1.0-mini"

_watched: list[list[str]] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watched and event in {"open", "os.listdir", "os.scandir"} and isinstance(args[0], str | bytes | os.PathLike):
        _watched[-1].append(os.fsdecode(args[0]))


sys.addaudithook(_hook)


@contextmanager
def openings() -> Iterator[list[str]]:
    """Yield the list of opened and listed paths."""
    _watched.append([])
    try:
        yield _watched[-1]
    finally:
        _watched.pop()


def outside(opened: list[str], root: Path) -> list[str]:
    """Return paths outside of the dataset, Python and this repository's code."""
    repository = Path(__file__).parents[2]
    allowed: tuple[Path, ...] = (
        root,
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sysconfig.get_path("stdlib")),
        Path("/proc/self"),
    )
    allowed += (repository / "uavsim", repository / "tests")
    reals = [os.path.realpath(name) for name in opened]
    inside = tuple(f"{os.path.realpath(folder)}{os.sep}" for folder in allowed)
    return [real for real in reals if not f"{real}{os.sep}".startswith(inside)]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset with every kind of file that the validator reads."""
    root = make_dataset(
        tmp_path_factory.mktemp("clean") / "set",
        scenes=1,
        samples=2,
        sweeps=0,
        drones=1,
        size_px=(64, 36),
        sensors=("rgb", "instance", "depth"),
        lidar=True,
    )
    images = [row for row in table(root, "sample_data") if row["fileformat"] == "png"]
    layers = table(root, "layer")
    made = {
        "semantic": (".png", codec.encode_tags(np.zeros((36, 64), np.uint8))),
        "optical_flow": (".flo", flow.encode_flow(np.zeros((36, 64, 2), np.float32))),
        "events": (".npy", events.encode_events(np.zeros(0, events.EVENT))),
    }
    for kind, (suffix, data) in made.items():
        name = f"{kind}/X/{images[0]['token']}{suffix}"
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(data)
        layers.append(
            layers[0] | {"token": f"{kind}-1", "sample_data_token": images[0]["token"], "kind": kind, "filename": name}
        )
    write(root, "layer", layers)
    scene = table(root, "scene")[0]["token"]
    channel = images[0]["filename"].split("/")[1]
    met = {"token": "e", "scene_token": scene, "name": "e", "kind": "drone", "channel": channel, "planned": True}
    write(root, "encounter", [met | {"instance_id": 9, "cpa_m": 1.0}])
    view = {"token": "i", "encounter_token": "e", "sample_data_token": images[0]["token"], "from_mask": False}
    write(root, "intruder_view", [view | {"translation": [0, 0, 0], "range_m": 1.0, "closing_mps": 0.0, "bbox": [0, 0, 1, 1],
                                          "visible_px": 0, "is_above_horizon": 0}])  # fmt: skip
    name = "streams/IMU_id_0/s.parquet"
    (root / name).parent.mkdir(parents=True)
    (root / name).write_bytes(to_parquet(np.zeros(2, [("timestamp_us", "<i8")]), {}))
    stream = {"token": "s", "scene_token": scene, "channel": "IMU_id_0", "kind": "imu", "motion": "planned"}
    write(root, "stream", [stream | {"rate_hz": 100.0, "count": 2, "filename": name}])
    validate_version(root, VERSION, workers=1)  # loads compiled code before the test records opened files
    return root


@pytest.fixture
def root(clean: Path, tmp_path: Path) -> Path:
    shutil.copytree(clean, tmp_path / "set")
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "set"


def write(root: Path, name: str, rows: list[dict[str, Any]]) -> None:
    (root / VERSION / f"{name}.json").write_text(json.dumps(rows))


def _elsewhere(root: Path, name: str) -> Path:
    target = root.parent / "elsewhere" / name.replace("/", "-")
    shutil.copyfile(root / name, target)  # a good file: only its place is wrong
    return target


def _absolute(root: Path, name: str) -> str:
    return str(_elsewhere(root, name))


def _dots(root: Path, name: str) -> str:
    return f"../elsewhere/{_elsewhere(root, name).name}"


def _dots_within(root: Path, name: str) -> str:
    return f"samples/../../elsewhere/{_elsewhere(root, name).name}"


def _link(root: Path, name: str) -> str:
    target = _elsewhere(root, name)
    (root / name).unlink()
    (root / name).symlink_to(target)
    return name


def _folder_link(root: Path, name: str) -> str:
    folder = (root / name).parent
    target = root.parent / "elsewhere" / "folder"
    shutil.move(folder, target)
    folder.symlink_to(target)
    return name


def _fifo(root: Path, name: str) -> str:
    (root / name).unlink()
    os.mkfifo(root / name)
    return name


def _device(root: Path, name: str) -> str:
    (root / name).unlink()
    (root / name).symlink_to("/dev/zero")
    return name


def _huge(root: Path, name: str) -> str:
    with (root / name).open("r+b") as file:
        file.truncate(MOST_FILE_BYTES + 20)
    return name


ATTACKS = {
    "absolute": _absolute,
    "dots": _dots,
    "dots within": _dots_within,
    "link": _link,
    "linked folder": _folder_link,
    "fifo": _fifo,
    "device": _device,
    "huge": _huge,
}


def _is_of(kind: str) -> Callable[[dict[str, Any]], bool]:
    return lambda row: bool(row["kind"] == kind)


NAMED: dict[str, tuple[str, Callable[[dict[str, Any]], bool]]] = {  # every kind of file that a table names
    "image": ("sample_data", lambda row: row["fileformat"] == "png"),
    "lidar": ("sample_data", lambda row: "LIDAR_id" in row["filename"]),
    "bev": ("sample_data", lambda row: "LIDAR_TOP" in row["filename"]),
    **{kind: ("layer", _is_of(kind))
       for kind in ("instance", "depth", "semantic", "optical_flow", "events", "lidar_instance")},
    **{table: (table, lambda _: True) for table in ("lidarseg", "map", "stream")},
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)
def test_a_named_file_is_not_opened_outside(named: tuple[str, Callable[..., bool]], attack: str, root: Path) -> None:
    name, chosen = named
    rows = table(root, name)
    row = next(row for row in rows if chosen(row))
    row["filename"] = ATTACKS[attack](root, row["filename"])
    write(root, name, rows)
    with openings() as opened:
        report = validate_version(root, VERSION, workers=1)
    assert opened
    assert not outside(opened, root)
    assert set(report.counts) & {"files.path", "files.link", "files.size"}, report.counts


@pytest.mark.parametrize("attack", ["link", "device", "fifo"])
@pytest.mark.parametrize(
    "name", ["sample_data", "category", "layer", "lidarseg", "encounter", "intruder_view", "stream", "splits"]
)
def test_a_table_is_not_opened_outside(name: str, attack: str, root: Path) -> None:
    ATTACKS[attack](root, f"{VERSION}/{name}.json")
    with openings() as opened:
        report = validate_version(root, VERSION, workers=1)
    assert not outside(opened, root)
    assert "schema.table" in report.counts


@pytest.mark.parametrize("folder", [*file_roots(), "maps", VERSION])
def test_a_linked_folder_is_reported_and_not_listed(folder: str, root: Path) -> None:
    target = root.parent / "elsewhere" / "folder"
    if (root / folder).exists():
        shutil.move(root / folder, target)
    else:
        target.mkdir()
    (root / folder).symlink_to(target)
    with openings() as opened:
        report = validate_version(root, VERSION, workers=1)
    assert not outside(opened, root)
    assert "files.link" in report.counts


def test_masks_beside_the_images_are_not_opened_outside(root: Path) -> None:
    (root / VERSION / "layer.json").unlink()
    name = next(row["filename"] for row in table(root, "sample_data") if row["fileformat"] == "png")
    mask = name.replace("samples/", "masks/", 1)
    _link(root, mask)
    with openings() as opened:
        validate_version(root, VERSION, workers=1)
    assert not outside(opened, root)


def test_every_table_that_names_a_file_is_checked() -> None:
    tables = {t.name for t in all_tables() if "filename" in getattr(t.row, "__annotations__", {})}
    assert tables == set(FILE_TABLES)
