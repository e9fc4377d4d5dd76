import errno
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import msgpack
import numpy as np
import pytest

from tests.capture.poses import planned_poses
from tests.records.test_codec import assert_same
from tools.common.plans import scene_plan
from uavsim.capture.assemble import Assembler, Capture
from uavsim.capture.recording_reader import LOG_NAME, read_recording
from uavsim.capture.recording_writer import RecordingWriter
from uavsim.errors import DatasetError, MissedTick, StorageError
from uavsim.geometry.se3 import SE3
from uavsim.images import codec
from uavsim.records.codec import pack_plan
from uavsim.records.recording import ActorInfo, ActorStates, RecordedFrame, SessionFacts
from uavsim.simulate.ports import Reading

PLAN = scene_plan(samples=2)
BOX = SE3(np.array([0.6, 0, 0, 0.8]), np.array([0.0, 0.0, 0.7]))
STATES = ActorStates(
    np.array([2, 5]),
    SE3(np.array([[1.0, 0, 0, 0], [0.6, 0, 0, 0.8]]), np.array([[1.5, -2.25, 0.125], [3.0, 4.0, 5.0]])),
    np.arange(6.0).reshape(2, 3),
    np.ones((2, 3)),
    np.zeros((2, 3)),
    np.full((2, 3), -0.5),
)
INFOS = (
    ActorInfo(2, 91, "vehicle", "vehicle.audi.tt", "car", (2.1, 1.0, 0.7), BOX, 14, {"color": "1,2,3"}),
    ActorInfo(5, 17, "walker", "walker.pedestrian.0003", "", (0.2, 0.2, 0.9), SE3.identity(), 12),
)
FACTS = SessionFacts("mock", "0.9.16", "0.9.16", "carla", 30, 25, 0, 0, "actor_id")


def _images(seed: int = 1) -> list[Reading]:
    rng = np.random.default_rng(seed)
    images = []
    for channel in PLAN.channels:
        images.append(Reading(channel, "rgb", rng.integers(0, 255, (180, 320, 4), dtype=np.uint8)))
        images.append(Reading(channel, "instance", np.zeros((180, 320, 4), np.uint8)))
    return images


def _assemble(images: list[Reading]) -> list[Capture]:
    return Assembler(PLAN, INFOS).assemble(planned_poses(PLAN), images, STATES)


def _record(folder: Path) -> list[Reading]:
    images = _images()
    with RecordingWriter(folder, PLAN) as writer:
        for step in PLAN.capture_steps:
            readings = writer.put(_assemble(images), step=step)
            sample = step // 10
            writer.add(
                RecordedFrame(
                    step, PLAN.start_timestamp_us + step * 50_000, 77 + step, sample, (), readings, STATES, (0.5,) * 14
                )
            )
        writer.finish(FACTS, INFOS)
    return images


def test_recording_round_trip(tmp_path: Path) -> None:
    images = _record(tmp_path / "rec")
    recording = read_recording(tmp_path / "rec")
    assert recording.facts == FACTS
    assert_same(recording.actors, INFOS)
    assert [f.step for f in recording.frames] == [0, 10]
    frame = recording.frames[1]
    assert_same(frame.actors, STATES)
    assert_same(recording.plan, PLAN)
    assert [s.channel for s in frame.readings] == list(PLAN.channels)
    shot = frame.readings[7]
    assert "rgb" in shot.files
    pixels = codec.decode_rgb(recording.folder / shot.files["rgb"])
    np.testing.assert_array_equal(pixels, images[14].data[..., 2::-1])  # the simulator's blue-first became red-first


def test_unfinished_recording_is_refused(tmp_path: Path) -> None:
    _record(tmp_path / "rec")
    log = tmp_path / "rec" / LOG_NAME
    log.write_bytes(log.read_bytes()[:-9])
    with pytest.raises(DatasetError, match=r"is incomplete|not a recording"):
        read_recording(tmp_path / "rec")


def test_missing_recording_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="holds no recording"):
        read_recording(tmp_path)


@pytest.mark.parametrize("frames", ["-1 s", "twice", "start"])
def test_times_other_than_the_plans_are_refused(frames: str, tmp_path: Path) -> None:
    _record(tmp_path / "rec")
    log = tmp_path / "rec" / LOG_NAME
    head, *values, tail = msgpack.Unpacker(BytesIO(log.read_bytes()), raw=False)
    if frames == "twice":
        values[1] = values[0]
    elif frames == "-1 s":
        values[0]["timestamp_us"] = -1_000_000
    else:
        before = replace(PLAN, start_timestamp_us=-1_000_000)
        head["plan"] = pack_plan(before)
        values[0]["timestamp_us"], values[1]["timestamp_us"] = -1_000_000, -500_000
    log.write_bytes(b"".join(map(msgpack.packb, [head, *values, tail])))
    with pytest.raises(DatasetError, match="times differ from its plan's"):
        read_recording(tmp_path / "rec")


def test_unwritable_folder_is_reported(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(StorageError, match=r"cannot make .*: a path component is a file"):
        RecordingWriter(blocked / "rec", PLAN)


def test_write_failure_in_a_thread_reaches_the_caller(tmp_path: Path) -> None:
    folder = tmp_path / "rec"
    with RecordingWriter(folder, PLAN) as writer:
        (folder / "rgb").write_text("in the way")
        writer.put(_assemble(_images()), step=0)
        with pytest.raises(StorageError, match=r"cannot write .*: a path component is a file"):
            writer.finish(FACTS, INFOS)
    assert not (folder / LOG_NAME).exists()


def test_full_disk_is_reported_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with RecordingWriter(tmp_path / "rec", PLAN) as writer:
        monkeypatch.setattr(Path, "write_bytes", full)
        writer.put(_assemble(_images()), step=0)
        with pytest.raises(
            StorageError, match=r"000000\.png: the disk is full; .* again, it continues where it stopped$"
        ):
            writer.finish(FACTS, INFOS)


def test_missing_image_is_an_error() -> None:
    with pytest.raises(MissedTick, match="CAMERA_LEFT_id_2 has no instance reading"):
        _assemble([i for i in _images() if (i.channel, i.modality) != ("CAMERA_LEFT_id_2", "instance")])


def test_optical_flow_of_the_first_tick_is_unknown() -> None:
    """A camera outlives scenes: its first image is compared with one of another scene."""
    camera = replace(PLAN.rig[0], modalities=("rgb", "instance", "optical_flow"))
    plan = replace(PLAN, rig=(camera, *PLAN.rig[1:]))
    flow = [Reading(c, "optical_flow", np.ones((180, 320, 2), np.float32)) for c in PLAN.channels if "FRONT" in c]
    for first in (True, False):
        captures = Assembler(plan, INFOS).assemble(planned_poses(plan), _images() + flow, STATES, first=first)
        front = [c.data["optical_flow"] for c in captures if "optical_flow" in c.data]
        assert len(front) == 5
        assert all(np.isnan(f).all() == first and f.shape == (180, 320, 2) for f in front)


def test_two_cameras_with_one_image_are_an_error() -> None:
    images = _images()
    images[4] = Reading(images[4].channel, "rgb", images[0].data)
    with pytest.raises(MissedTick, match="same image"):
        _assemble(images)


@pytest.mark.parametrize(("field", "value"), [("motion", 8.5), ("facts", {"x": 1}), ("frame", 3)])
def test_records_of_other_types_are_refused(field: str, value: object, tmp_path: Path) -> None:
    _record(tmp_path / "rec")
    log = tmp_path / "rec" / LOG_NAME
    head, *frames, tail = msgpack.Unpacker(BytesIO(log.read_bytes()), raw=False)
    if field == "frame":
        frames[1] = value
    else:
        head[field] = value
    log.write_bytes(b"".join(map(msgpack.packb, [head, *frames, tail])))
    with pytest.raises(DatasetError, match=r"rec/log\.msgpack: not a recording: expected .*, got "):
        read_recording(tmp_path / "rec")
