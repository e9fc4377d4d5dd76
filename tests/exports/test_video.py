"""Videos: decoded frames, and boxes between keyframes at the simulator's object poses."""

import io
from pathlib import Path

import av
import numpy as np
import pytest
from typer.testing import CliRunner

from tests.dataset_factory import make_dataset
from uavsim.access import open_folder
from uavsim.cli import build_app
from uavsim.errors import InputError, UnknownNameError
from uavsim.exports.formats import video
from uavsim.exports.formats.encode_video import decode_mp4, encode_gif, encode_mp4
from uavsim.exports.formats.video import VideoRequest, write_video

SWEEPS, SAMPLES = 4, 3


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("d"), scenes=1, samples=SAMPLES, sweeps=SWEEPS)


def shaded(number: int) -> np.ndarray:
    """Return a smooth (48, 64, 3) image with a moving bright square."""
    pixels = np.zeros((48, 64, 3), np.uint8)
    pixels[..., 2] = np.arange(64) * 2
    pixels[10:20, 4 * number : 4 * number + 8] = (200, 60, 30)
    return pixels


def test_lossless_video_equals_its_frames_up_to_colour_conversion() -> None:
    frames = [shaded(k) for k in range(7)]
    data = encode_mp4(iter(frames), fps=16, lossless=True)

    decoded = list(decode_mp4(data))
    assert len(decoded) == 7
    assert np.abs(np.stack(decoded).astype(int) - np.stack(frames)).max() <= 3
    assert data == encode_mp4(iter(frames), fps=16, lossless=True)
    with av.open(io.BytesIO(data)) as container:
        assert container.streams.video[0].average_rate == 16


def test_equal_frames_give_equal_bytes() -> None:
    """x264's macroblock tree is not deterministic on processors with AVX-512."""
    ground = np.random.default_rng(3).integers(0, 256, (60, 110, 3)).astype(np.uint8).repeat(8, 0).repeat(8, 1)
    frames = [ground[k : k + 450, 3 * k : 3 * k + 800] for k in range(12)]
    assert len({encode_mp4(iter(frames), fps=16, quality=14) for _ in range(8)}) == 1


def test_gif_has_every_frame_and_loops() -> None:
    data = encode_gif((shaded(k) for k in range(5)), fps=10)

    assert b"NETSCAPE2.0" in data
    with av.open(io.BytesIO(data)) as container:
        decoded = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(decoded) == 5
    assert all(decoded[k][15, 4 * k + 4, 0] > 150 > decoded[k][40, 4 * k + 4, 0] for k in range(5))


def test_every_keyframe_and_sweep_is_a_frame(root: Path, tmp_path: Path) -> None:
    frames, fps, _ = write_video(VideoRequest(root, tmp_path / "v.mp4", width_px=320))
    scene = open_folder(root).scene("scene_00")
    stamps = [image.timestamp_us for image in scene.images_of(scene.samples[0].images[0].channel)]

    assert frames == (SAMPLES - 1) * (SWEEPS + 1) + 1 == len(stamps)
    assert fps == pytest.approx(1e6 / (stamps[1] - stamps[0]), abs=1e-3)
    plain = write_video(VideoRequest(root, tmp_path / "plain.mp4", width_px=320, boxes=False))
    assert plain[:2] == (frames, fps)
    assert (tmp_path / "plain.mp4").read_bytes() != (tmp_path / "v.mp4").read_bytes()


def test_boxes_are_interpolated_between_keyframes(root: Path) -> None:
    scene = open_folder(root).scene("scene_00")
    first, second = scene.samples[0], scene.samples[1]
    stamps = [image.timestamp_us for image in scene.images_of(first.images[0].channel)]
    between = scene.boxes_at(stamps[1])

    assert scene.boxes_at(first.timestamp_us) is first.boxes
    assert set(between.instance_tokens) <= set(first.boxes.instance_tokens) | set(second.boxes.instance_tokens)
    share = (stamps[1] - stamps[0]) / (second.timestamp_us - first.timestamp_us)
    for row, token in enumerate(between.instance_tokens):
        if token not in first.boxes.instance_tokens or token not in second.boxes.instance_tokens:
            continue
        a, b = (s.boxes.map_SE3_box.translation_m[s.boxes.instance_tokens.index(token)] for s in (first, second))
        assert between.map_SE3_box.translation_m[row] == pytest.approx(a + share * (b - a), abs=1e-6)
        assert (between.size_lwh_m[row] > 0.1).all()


def test_cameras_without_sweeps_hold_their_latest_image(root: Path, tmp_path: Path) -> None:
    scene = open_folder(root).scene("scene_00")
    rows = scene._rows["sample_data"]
    scene._rows["sample_data"] = [row for row in rows if row["is_key_frame"] or "FRONT_id_0" not in row["filename"]]
    request = VideoRequest(root, tmp_path / "v.mp4", cameras=("CAMERA_BACK_id_0", "CAMERA_FRONT_id_0"))
    back, front = zip(*video._images(scene, request), strict=True)
    assert len(back) == SAMPLES + SWEEPS * (SAMPLES - 1)
    assert [one.timestamp_us for one in front] == [
        max(s.timestamp_us for s in scene.samples if s.timestamp_us <= one.timestamp_us) for one in back
    ]
    images = video._images(scene, VideoRequest(root, tmp_path / "v.mp4"))
    assert "CAMERA_FRONT_id_0" not in {image.channel for image in images[0]}


def test_unknown_suffix_and_camera_are_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a video ends with \.mp4 or \.gif"):
        write_video(VideoRequest(root, tmp_path / "v.avi"))
    with pytest.raises(UnknownNameError, match="did you mean"):
        write_video(VideoRequest(root, tmp_path / "v.mp4", cameras=("CAMERA_FRONT_id_00",)))


def test_command_reports_the_written_video(root: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        build_app("video"), ["video", str(root), "--out", str(tmp_path / "v.gif"), "--frames", "2"]
    )
    assert done.exit_code == 0, done.output
    assert "2 frames at" in done.output
