"""Datasets on disk for tests of readers."""

import json
import shutil
from pathlib import Path

from tools.common.factories import make_recording
from uavsim.annotate import annotate, write_label_files
from uavsim.capture.recording_writer import RecordingWriter
from uavsim.dataset import assemble, final_paths, pack_fragment, scene_fragment
from uavsim.dataset.convert import convert
from uavsim.dataset.tables import read_rows, write_rows
from uavsim.records.recording import Recording
from uavsim.typing import JsonDict


def make_dataset(root: Path, *, scenes: int = 2, second_split: str = "uav_val", **choices) -> Path:
    """Make a strict dataset of synthetic scenes; the first is in uav_train, the others in uav_val."""
    fragments = []
    for index in range(scenes):
        recording = make_recording(
            root / "recording",
            scene=f"scene_{index:02d}",
            scene_index=index,
            splits=("uav_train",) if index == 0 else (second_split,),
            **choices,
        )
        fragments.append(put_scene(root, recording))
    assemble(root, fragments)
    return root


def put_scene(root: Path, recording: Recording) -> bytes:
    """Move a recording's images into a dataset and remove its folder; returns the scene's packed rows."""
    fragment = pack_fragment(scene_fragment(annotate(recording)))
    for old, new in {**final_paths(recording), **write_label_files(recording)}.items():
        (root / new).parent.mkdir(parents=True, exist_ok=True)
        (recording.folder / old).rename(root / new)
    shutil.rmtree(recording.folder)
    return fragment


def in_uav3d(strict: Path, folder: Path) -> Path:
    """Convert a dataset into the other dialect; returns its root in ``folder``."""
    convert(strict, folder / "uav3d", dialect="uav3d")
    return folder / "uav3d"


def table(root: Path, name: str, version: str = "v1.0-mini") -> list[JsonDict]:
    """Return a table's rows."""
    rows: list[JsonDict] = json.loads((root / version / f"{name}.json").read_bytes())
    return rows


def files_of(root: Path) -> dict[str, bytes]:
    """Return every file below ``root``."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def write_log(recording: Recording) -> Path:
    """Write the log of a recording with existing images; returns its folder."""
    with RecordingWriter(recording.folder, recording.plan) as writer:
        for frame in recording.frames:
            writer.add(frame)
        return writer.finish(recording.facts, recording.actors)


def add_what_no_dialect_knows(root: Path) -> set[str]:
    """Add a stream file, referenced by an ingredient's table, and an unreferenced vector map; returns their names."""
    version = root / "v1.0-mini"
    (scene, *_) = read_rows(version / "scene.json")
    stream, town = "streams/IMU_id_0/scene_0000__IMU_id_0.parquet", "maps/expansion/Town10HD.json"
    row = {"token": "0" * 32, "scene_token": scene["token"], "channel": "IMU_id_0", "kind": "imu", "motion": "planned"}
    write_rows(version / "stream.json", [row | {"rate_hz": 100.0, "count": 0, "filename": stream}])
    for name in (stream, town):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(name)
    return {stream, town}
