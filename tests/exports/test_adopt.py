"""Adopted videos: assignment of frames to images, content of the twin, refusals."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uavsim
from tests.dataset_factory import files_of, in_uav3d, make_dataset
from uavsim.dataset.tables import read_rows
from uavsim.errors import DatasetError, InputError
from uavsim.exports.adopt import adopt
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.cosmos import export_cosmos
from uavsim.exports.formats.encode_video import decode_mp4, encode_gif, encode_mp4
from uavsim.validate import validate_version
from uavsim_benchmarks.labels.pixels import grey, psnr_db

FRONT, BOTTOM = "CAMERA_FRONT_id_0", "CAMERA_BOTTOM_id_0"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return two scenes of two drones with ten images per second and eleven images per camera."""
    sensors = ("rgb", "instance", "depth")
    return make_dataset(
        tmp_path_factory.mktemp("d") / "own", samples=3, sweeps=4, drones=2, size_px=(160, 90), sensors=sensors
    )


@pytest.fixture(scope="module")
def clips(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("c") / "own"
    export_cosmos(ExportRequest(data, out))
    return out


def valid(root: Path) -> bool:
    report = validate_version(root, "v1.0-mini")
    assert not report.errors, report
    return True


def videos(clips: Path, out: Path, *names: str) -> Path:
    """Copy selected videos with their manifest."""
    for name in names:
        clip, _, channel = name.partition("/")
        (out / clip).mkdir(parents=True, exist_ok=True)
        manifest = json.loads((clips / clip / "manifest.json").read_text())
        old = (
            json.loads((out / clip / "manifest.json").read_text()) if (out / clip / "manifest.json").exists() else None
        )
        rgb_videos = {f"rgb/{channel}": f"rgb_{channel}.mp4"} | (old["videos"] if old else {})
        (out / clip / "manifest.json").write_text(json.dumps(manifest | {"videos": rgb_videos}))
        shutil.copy(clips / clip / f"rgb_{channel}.mp4", out / clip)
    return out


def test_adopting_all_videos_keeps_tables_and_links_every_image(tmp_path: Path) -> None:
    sensors = ("rgb", "instance")
    data = make_dataset(tmp_path / "own", scenes=1, samples=2, sweeps=4, drones=1, size_px=(160, 90), sensors=sensors)
    clips = tmp_path / "clips"
    export_cosmos(ExportRequest(data, clips))
    result = adopt(clips, data, tmp_path, name="skin")
    source, twin = uavsim.open(data), uavsim.open(tmp_path / "skin")
    assert valid(tmp_path / "skin")
    assert result.images == 5 * 6
    for table in ("sample", "sample_data", "sample_annotation", "instance", "visibility_detail", "scene"):
        assert read_rows(tmp_path / f"skin/v1.0-mini/{table}.json") == read_rows(data / f"v1.0-mini/{table}.json")
    before, after = (data.scene("scene_00").images_of(BOTTOM) for data in (source, twin))
    for image, adopted in zip(before, after, strict=True):
        assert psnr_db(grey(image.pixels()), grey(adopted.pixels())) > 35
        assert (image.mask()[0] == adopted.mask()[0]).all()
    links = json.loads((tmp_path / "twin.json").read_text())
    assert {row["kind"] for row in links} == {"adopted"}
    assert {row["sample_data_token"] for row in links} == {
        i.token for s in source for c in channels(s) for i in s.images_of(c)
    }


def channels(scene: uavsim.Scene) -> list[str]:
    return [image.channel for image in scene.samples[0].images]


def test_short_video_ends_the_twin_before_the_missing_keyframe(data: Path, clips: Path, tmp_path: Path) -> None:
    """Seven frames of one camera, eleven of another: the twin ends before the third keyframe, and boxes count two cameras."""
    came = videos(clips, tmp_path / "came", f"scene_01__drone_0/{FRONT}", f"scene_01__drone_0/{BOTTOM}")
    path = came / f"scene_01__drone_0/rgb_{FRONT}.mp4"
    frames = list(decode_mp4(path.read_bytes()))[:7]
    path.write_bytes(encode_mp4(iter(frames), fps=10, quality=14))
    adopt(came, data, tmp_path / "twins", name="short")
    twin = uavsim.open(tmp_path / "twins/short")
    assert valid(tmp_path / "twins/short")
    assert twin.scene_names == ("scene_01",)
    scene = twin.scene("scene_01")
    assert (len(scene), sorted(channels(scene))) == (2, [BOTTOM, FRONT])
    assert [len(scene.images_of(channel)) for channel in (FRONT, BOTTOM)] == [6, 6]
    before = uavsim.open(data).scene("scene_01").samples[1].boxes
    for token, views in zip(scene.samples[1].boxes.tokens, scene.samples[1].boxes.views, strict=True):
        known = before.views[before.tokens.index(token)]
        assert list(views) == [view for view in known if view["channel"] in (FRONT, BOTTOM)]


def test_repainted_object_is_reported_as_gone(data: Path, clips: Path, tmp_path: Path) -> None:
    came = videos(clips, tmp_path / "came", f"scene_00__drone_0/{BOTTOM}")
    scene = uavsim.open(data).scene("scene_00")
    images = scene.images_of(BOTTOM)
    counts = np.bincount(images[0].mask()[0].ravel())
    gone = int(np.argmax(counts[1:])) + 1

    def changed(image: uavsim.Image) -> np.ndarray:
        pixels, ids = image.pixels(), image.mask()[0]
        pixels[ids == gone] = np.median(pixels[ids == 0], axis=0)
        return pixels

    path = came / f"scene_00__drone_0/rgb_{BOTTOM}.mp4"
    path.write_bytes(encode_mp4(map(changed, images), fps=10, quality=14))
    result = adopt(came, data, tmp_path / "twins", name="painted")
    rows = json.loads((tmp_path / "twins/adopted.json").read_text())
    number_of = {t: n for s in scene for t, n in zip(s.boxes.tokens, s.boxes.instance_id.tolist(), strict=True)}
    found: dict[str, set[int]] = {}
    for row in rows:
        found.setdefault(row["state"], set()).add(number_of[row["sample_annotation_token"]])
    assert found["gone"] == {gone}
    assert gone not in found.get("kept", set())
    assert result.objects == {word: sum(row["state"] == word for row in rows) for word in sorted(found)}


def test_job_result_of_lower_rate_and_other_size_is_adopted(data: Path, clips: Path, tmp_path: Path) -> None:
    manifest = json.loads((clips / "scene_00__drone_0/manifest.json").read_text())
    job: dict[str, Any] = {"clip": manifest, "files": [{"name": "out.mp4", "view": FRONT, "kind": "video"}]}
    (tmp_path / "job").mkdir()
    (tmp_path / "job/manifest.json").write_text(json.dumps(job))
    images = uavsim.open(data).scene("scene_00").images_of(FRONT)
    large = (np.repeat(np.repeat(image.pixels(), 2, axis=0), 2, axis=1)[:176] for image in images[::5])
    (tmp_path / "job/out.mp4").write_bytes(encode_mp4(large, fps=2, quality=14))
    assert adopt(tmp_path / "job", data, tmp_path / "twins", name="job").images == 3
    assert valid(tmp_path / "twins/job")
    scene = uavsim.open(tmp_path / "twins/job").scene("scene_00")
    assert [image.timestamp_us for image in scene.images_of(FRONT)] == [image.timestamp_us for image in images[::5]]
    assert scene.images_of(FRONT)[0].pixels().shape == (90, 160, 3)


def test_two_twins_share_tables_and_equal_videos_give_equal_bytes(data: Path, clips: Path, tmp_path: Path) -> None:
    came = videos(clips, tmp_path / "came", f"scene_00__drone_1/{FRONT[:-1]}1")
    for name in ("one", "two", "one"):
        shutil.rmtree(tmp_path / "twins" / name, ignore_errors=True)
        adopt(came, data, tmp_path / "twins", name=name)
    links = json.loads((tmp_path / "twins/twin.json").read_text())
    assert sorted({row["twin"] for row in links}) == ["one", "two"]
    assert files_of(tmp_path / "twins/one") == files_of(tmp_path / "twins/two")


def test_videos_and_manifests_that_do_not_fit_are_refused(data: Path, clips: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no manifest.json in it names videos"):
        adopt(data, data, tmp_path / "t", name="x")
    for number, (words, frames, fps) in enumerate(
        [
            (r"has 7 frames per second, but CAMERA_FRONT_id_0 has 10", np.zeros((90, 160, 3), np.uint8), 7),
            (r"120 x 90 pixels differ in shape from 160 x 90", np.zeros((90, 120, 3), np.uint8), 10),
        ]
    ):
        came = videos(clips, tmp_path / f"came{number}", f"scene_00__drone_0/{FRONT}")
        path = came / f"scene_00__drone_0/rgb_{FRONT}.mp4"
        path.write_bytes(encode_mp4(iter([frames] * 3), fps=fps))
        with pytest.raises(InputError, match=words):
            adopt(came, data, tmp_path / "t", name="x")
        path.write_bytes(b"no video")
        with pytest.raises(InputError, match="no video"):
            adopt(came, data, tmp_path / "t", name="x")
    manifest = json.loads((came / "scene_00__drone_0/manifest.json").read_text())
    for broken in (5, None, ["a"], {}):
        (came / "scene_00__drone_0/manifest.json").write_text(json.dumps(manifest | {"clip_id": broken}))
        with pytest.raises(DatasetError, match=r"manifest\.json.* is not a name"):
            adopt(came, data, tmp_path / "t", name="x")
    with pytest.raises(InputError, match="--name"):
        adopt(clips, data, tmp_path / "t", name="a\0b")
    (came / "scene_00__drone_0/manifest.json").write_text(json.dumps(manifest | {"clip_id": "scene_07__drone_0"}))
    with pytest.raises(
        InputError, match=r"scene_07__drone_0 matches no scene and agent of .*; known: scene_00__drone_0, scene_00__"
    ):
        adopt(came, data, tmp_path / "t", name="x")
    with pytest.raises(DatasetError, match="--dialect strict"):
        adopt(clips, in_uav3d(data, tmp_path), tmp_path / "t", name="x")


def test_manifest_may_only_name_files_beside_it_and_each_camera_once(data: Path, clips: Path, tmp_path: Path) -> None:
    came = videos(clips, tmp_path / "came", f"scene_00__drone_0/{FRONT}")
    clip = came / "scene_00__drone_0"
    manifest = json.loads((clip / "manifest.json").read_text())
    secret = tmp_path / "secret.mp4"
    shutil.copy(clip / f"rgb_{FRONT}.mp4", secret)
    (clip / "link.mp4").symlink_to(secret)
    for name in (["x.mp4"], {"x": 1}, "x\0.mp4"):
        for wrong in ({"videos": {f"rgb/{FRONT}": name}}, {"clip_id": name}):
            (clip / "manifest.json").write_text(json.dumps(manifest | {"videos": {f"rgb/{FRONT}": "x.mp4"}} | wrong))
            with pytest.raises(DatasetError, match="is not a name"):
                adopt(came, data, tmp_path / "t", name="x")
    for name in (str(secret), "../../secret.mp4", "link.mp4", "", "x" * 300):
        (clip / "manifest.json").write_text(json.dumps(manifest | {"videos": {f"rgb/{FRONT}": name}}))
        with pytest.raises(InputError, match=r"manifest.json: names .*, which is not a file in its folder"):
            adopt(came, data, tmp_path / "t", name="x")
    (clip / "manifest.json").write_text(json.dumps(manifest | {"videos": {f"rgb/{FRONT}": f"rgb_{FRONT}.mp4"}}))
    shutil.copytree(clip, came / "again")
    with pytest.raises(InputError, match=f"two videos of {FRONT} of scene_00__drone_0"):
        adopt(came, data, tmp_path / "t", name="x")
    shutil.rmtree(came / "again")
    with (clip / f"rgb_{FRONT}.mp4").open("r+b") as file:
        file.truncate(2 << 30)  # of holes
    with pytest.raises(DatasetError, match="is larger than"):
        adopt(came, data, tmp_path / "t", name="x")


SDP = (
    "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 45678 RTP/AVP 96\na=rtpmap:96 H264/90000\n"
)


@pytest.mark.parametrize("kind", ["ffconcat", "SDP", "GIF", "8K", "damaged head"])
def test_only_mp4_of_camera_size_is_read(data: Path, clips: Path, tmp_path: Path, kind: str) -> None:
    """FFmpeg's automatic detection could read other files or open ports."""
    came = videos(clips, tmp_path / "came", f"scene_00__drone_0/{FRONT}")
    path = came / f"scene_00__drone_0/rgb_{FRONT}.mp4"
    good = path.read_bytes()
    if kind == "ffconcat":
        shutil.copy(path, tmp_path / "other.mp4")
        path.write_text(f"ffconcat version 1.0\nfile {tmp_path}/other.mp4\n")
    elif kind == "SDP":
        path.write_text(SDP)
    elif kind == "GIF":
        path.write_bytes(encode_gif(decode_mp4(good), fps=10))
    elif kind == "8K":
        path.write_bytes(encode_mp4(iter([np.zeros((4320, 7680, 3), np.uint8)]), fps=10))
    else:
        offset = good.index(b"moov")
        path.write_bytes(good[:offset] + b"\xff" * 200 + good[offset + 200 :])
    with pytest.raises(InputError, match=path.name):
        adopt(came, data, tmp_path / "t", name="x")


def test_twin_folder_outside_the_dataset_and_valid_name_are_required(data: Path, clips: Path, tmp_path: Path) -> None:
    for out in (data, data / "twins"):
        with pytest.raises(InputError, match="is the dataset itself, or in it"):
            adopt(clips, data, out, name="x")
    for name in ("../x", "x\0", ""):
        with pytest.raises(InputError, match="--name"):
            adopt(clips, data, tmp_path / "t", name=name)
