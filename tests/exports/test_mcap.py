import json
from pathlib import Path

import uavsim
from tests.other_python import printed_by
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.mcap import export_mcap


def test_mcap_reader_finds_every_message(strict: Path, tmp_path: Path) -> None:
    (path,) = export_mcap(ExportRequest(strict, tmp_path, split="uav_val"))
    script = (
        "import sys, json, collections\n"
        "from mcap.reader import make_reader\n"
        "found, times, sizes = collections.Counter(), set(), {}\n"
        "with open(sys.argv[1], 'rb') as file:\n"
        "    for schema, channel, message in make_reader(file, validate_crcs=True).iter_messages():\n"
        "        found[channel.topic + ' ' + schema.name] += 1; times.add(message.log_time)\n"
        "        sizes[channel.topic] = len(message.data)\n"
        "print(json.dumps({'found': found, 'times': sorted(times), 'sizes': sizes}))\n"
    )
    loaded = json.loads(printed_by("readers", script, path))
    scene = uavsim.open(strict).scene("scene_01")
    assert loaded["times"] == sorted({sample.timestamp_us * 1000 for sample in scene})
    assert loaded["found"]["/tf foxglove.FrameTransforms"] == 2
    assert loaded["found"]["/boxes foxglove.SceneUpdate"] == 2
    for image in scene.samples[1].images:
        assert loaded["found"][f"/{image.channel}/image foxglove.CompressedImage"] == 2
        assert loaded["found"][f"/{image.channel}/calibration foxglove.CameraCalibration"] == 2
        assert loaded["sizes"][f"/{image.channel}/image"] > len(image.bytes())


def test_existing_file_is_replaced(strict: Path, tmp_path: Path) -> None:
    (tmp_path / "scene_00.mcap").write_bytes(b"of a run before")
    export_mcap(ExportRequest(strict, tmp_path))
    export_mcap(ExportRequest(strict, tmp_path / "new"))
    assert (tmp_path / "scene_00.mcap").read_bytes() == (tmp_path / "new/scene_00.mcap").read_bytes()
